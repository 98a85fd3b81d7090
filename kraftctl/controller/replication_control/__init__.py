"""Topics and partitions: one module per operation."""
