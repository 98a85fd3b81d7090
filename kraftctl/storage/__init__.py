"""Everything the controller keeps on disk, in Apache Kafka's own file formats (KIP-595, KIP-630, KIP-853)."""
