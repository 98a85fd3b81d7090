"""SSL and SASL of connections, for the service and the exporter: Kafka's keys, and what is made of them."""
