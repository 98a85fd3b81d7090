"""Configuration keys as Kafka's jars define them; by `python -m kraftctl_codegen.config_definitions`."""
