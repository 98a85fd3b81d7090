"""Versions of brokers, topics and other things are computed record by record."""
