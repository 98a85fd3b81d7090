"""Message classes are written from Kafka's schemas."""
