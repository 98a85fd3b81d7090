"""Records as rows, and rows as Arrow columns; without Spark.

`metadata_rows` makes a row of a record, `columns` and `decoded_columns` make Arrow columns, `tables` has
one table per record type, and `redaction` removes secrets.
"""
