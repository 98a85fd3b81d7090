"""`kraftctl shell`: kafka-metadata-shell, which shows the metadata of a file as a tree of directories."""
