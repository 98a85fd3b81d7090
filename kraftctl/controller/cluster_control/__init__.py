"""Brokers and controllers register, send heartbeats, are fenced and leave; clients ask what is registered."""
