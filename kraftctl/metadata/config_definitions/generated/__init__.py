"""Configuration keys as Kafka's jars define them; written by `python -m kraftctl.dev.config_definitions`."""
