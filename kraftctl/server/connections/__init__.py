"""A client's connection turns bytes into requests, and limits what it holds.

`connection_states` is the table of what a connection does when; `connection` reads frames, sends responses
and closes. `byte_budget` decides who loses when too many bytes are held. `metrics` has counts and durations,
`request_log` a line per request, `throttled_clients` says for how long a client is not served, and
`foreign_clients` which other protocol it speaks.
"""
