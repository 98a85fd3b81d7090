"""Brokers and controllers: registration, heartbeats, fencing, leaving."""
