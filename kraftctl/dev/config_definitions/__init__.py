"""Imports facts about configuration keys from Kafka's jars into `kraftctl.metadata.config_definitions`."""
