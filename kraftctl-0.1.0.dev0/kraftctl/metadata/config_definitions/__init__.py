"""Kafka's configuration keys: type, default, valid values, as generated from its jars."""
