"""Brokers and controllers: registration, heartbeats, fencing, leaving.

`process_broker_heartbeat` decides what a heartbeat changes, `fence_stale_brokers` fences brokers whose
session has run out, and `broker_heartbeat_manager` holds the soft state of sessions.
"""
