"""Tables of Parquet files with commits: written exactly once, compacted, read back; without Spark.

`exporter` plans and commits a batch, `export_tasks` is the work of one task, `commit_log` has the commits,
and `compaction` merges files.
"""

HISTORY_DIRECTORY = "history"
"""The directory of the versions in that of the typed tables, unless another one is named."""
