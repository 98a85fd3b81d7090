"""Config providers keep values of configurations elsewhere: KIP-297, KIP-421, with those that Kafka ships."""
