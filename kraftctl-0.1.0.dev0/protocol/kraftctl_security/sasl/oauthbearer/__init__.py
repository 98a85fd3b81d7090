"""OAUTHBEARER (RFC 7628, KIP-255, KIP-768): messages, tokens and claims, without sockets or files."""
