"""Tables of Parquet files with manifests: written exactly once, compacted, read back; without Spark.

`exporter` plans and commits a batch, `export_tasks` is the work of one task, `manifest` the commit, and
`compaction` merges files.
"""
