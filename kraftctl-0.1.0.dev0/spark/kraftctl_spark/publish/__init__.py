"""Publishes the tables as Delta and Iceberg: the same files, in the logs that other engines read.

`live_tables` says which files are to be published, `publication` what of that is new, `delta` and `iceberg`
commit it.
"""
