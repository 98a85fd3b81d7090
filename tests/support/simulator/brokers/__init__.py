"""Model brokers and a model admin send what Kafka's own send."""
