"""Reads a metadata log, from a quorum or from a controller's directory, and changes nothing there.

`log_reader` is the interface; `observer` reads from a quorum, and `directory_reader` from files. The exporter
and `kraftctl explain` read through it; it needs neither of them, and no Spark or Arrow.
"""
