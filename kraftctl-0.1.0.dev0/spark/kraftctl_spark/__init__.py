"""Committed metadata of a KRaft quorum as a Parquet table, written by Spark (KIP-595 observer)."""
