"""What the metadata log says, by a second implementation of Kafka's rules."""
