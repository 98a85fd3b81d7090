"""Listeners bind sockets, accept connections within their quotas, and close idle ones."""
