"""Values of configurations that are kept elsewhere: KIP-297, KIP-421, with the providers that Kafka ships."""
