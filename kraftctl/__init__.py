"""kraftctl: a KRaft controller for unmodified Apache Kafka brokers."""

__version__ = "0.1.0"
