"""SSL and SASL decide who a client is; keys, users and certificates may change while a controller runs."""
