"""The same calls on Kafka's own controller and on kraftctl: what differs is a find (`make differential`)."""
