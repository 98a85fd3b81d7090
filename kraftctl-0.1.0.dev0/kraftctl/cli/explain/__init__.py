"""`kraftctl explain`: reads a metadata log, and has `kraftctl.explain` say why something is as it is.

`command` has the flags, `log_source` reads the log, and `leader_view` asks the leader about its replicas.
"""
