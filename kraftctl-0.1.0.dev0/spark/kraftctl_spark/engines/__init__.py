"""What runs the tasks of an export, and decides when a batch is due: `spark_engine`, or `local_engine`.

Both write the same files: those depend on the offsets alone (docs/adr/0007).
"""
