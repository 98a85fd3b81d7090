"""The addresses behind the name of a node: how they are found, and which of them is tried next (RFC 8305)."""
