"""A client's connection turns bytes into requests, and limits what it holds.

`connection_states` is the table of what a connection does when; `connection` reads frames, sends responses
and closes. `byte_budget` decides who loses when too many bytes are held. `metrics` has counts and durations,
`request_log` a line per request, and `foreign_clients` says which other protocol a client speaks.
"""
