"""Tables of Parquet files with manifests: written exactly once, compacted, read back; without Spark."""
