"""Real processes: controllers, brokers, Kafka's tools, Spark, a browser."""
