"""Requests for changes, valid and not, and what Kafka's controller answers to them."""
