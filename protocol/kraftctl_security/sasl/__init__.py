"""SASL (RFC 4422): mechanisms as functions of what the other side sends, without sockets or files."""
