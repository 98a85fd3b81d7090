"""SSL and SASL decide who a client is; keys, users and certificates may change while a controller runs.

`listener_security` makes the SSL and SASL of listeners. `ssl_transport` is between a socket and its
connection, `sasl_exchange` decides what a client may send before it is authenticated, and `credential_lookup`
finds users and tokens. `ssl_reloading` replaces keys and certificates, and `peer_authorization_check` warns
if other controllers would refuse this one.
"""
