"""Turns the schemas in `schemas/` into the modules of `kraftctl_protocol.generated` (development only)."""
