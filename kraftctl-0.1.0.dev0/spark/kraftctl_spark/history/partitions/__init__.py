"""Computes versions of partitions as columns, because most records are about partitions."""
