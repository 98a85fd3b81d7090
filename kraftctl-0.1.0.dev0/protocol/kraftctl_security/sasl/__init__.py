"""SASL (RFC 4422): mechanisms as functions of what the other side sends, without sockets or files.

`sasl_config`, `jaas` and `login_configuration` read keys and entries; `plain`, `scram_server` and
`oauthbearer` are the mechanisms of a server, and `client_exchange` is the client of all of them.
"""
