"""SSL and SASL of connections, for the service and the exporter: Kafka's keys, and what is made of them.

`tls` has stores and contexts, `sasl` the mechanisms, `issuer` asks for OAUTHBEARER's keys and tokens,
`addresses` finds the addresses behind a name. `blocking_connection` is the connection of commands and of
the exporter, `client_config` has its keys, and `authentication_failures` names the key to check when it
fails.
"""
