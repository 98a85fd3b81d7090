"""`kraftctl quorum`: what `kafka-metadata-quorum` does, without a JVM, and the way back after a lost disk."""
