"""Reads a metadata log, from a quorum or from a controller's directory.

`log_reader` is the interface; `observer` reads from a quorum, and `directory_reader` from files.
"""
