"""Tables of Parquet files with commits: written exactly once, compacted, read back; without Spark.

`exporter` plans and commits a batch, `export_tasks` is the work of one task, `commit_log` has the commits,
and `compaction` merges files.
"""
