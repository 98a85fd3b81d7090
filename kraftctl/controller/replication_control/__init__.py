"""Topics and partitions are created, changed and deleted here, by one module per operation."""
