"""`kraftctl console` serves a page about a quorum; it needs the extra `console`.

`command` has the flags, `listen_address` says where it listens, `quorum_round` asks the controllers, and
`serving` runs the server.
"""
