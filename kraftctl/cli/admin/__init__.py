"""A small blocking admin client, for commands that ask a running cluster."""
