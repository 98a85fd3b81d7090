"""Brokers and controllers register, send heartbeats, are fenced and leave; clients ask what is registered.

`process_broker_heartbeat` decides what a heartbeat changes, and `fence_stale_brokers` fences brokers whose
session has run out.
"""
