"""Imports configuration definitions from Kafka's jars into `kraftctl.metadata.config_definitions`."""
