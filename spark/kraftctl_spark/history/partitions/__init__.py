"""Versions of partitions are computed as columns, because most records are about partitions."""
