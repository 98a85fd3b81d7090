"""Kafka's wire protocol: messages, records and frames as bytes; needs only the standard library and librt."""
