"""What Kafka knows about its configuration keys: type, default, valid values. Facts taken from its jars."""
