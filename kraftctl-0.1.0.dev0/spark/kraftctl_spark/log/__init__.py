"""Where an export reads: the location of a metadata log with the client's keys, and the ranges of its tasks.

`kraftctl_observer` reads the log.
"""
