"""The in-memory view of the metadata log, changed only by replaying records.

`replay` applies a record, `undo_journal` takes back what was not committed, and `image_writer` turns the
image into the records of a snapshot. `partition_records` loads encoded partitions without making messages
of them.
"""
