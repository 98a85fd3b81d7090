"""`kraftctl cluster`: kafka-cluster, which names a cluster and its nodes, and unregisters some."""
