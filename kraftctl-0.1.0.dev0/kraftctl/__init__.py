"""kraftctl: a KRaft controller for unmodified Apache Kafka brokers."""

__version__ = "0.1.0.dev0"
"""The only place of it. `make release` takes `.dev0` away, or counts the commits up to the one it builds, and
names that after a plus sign."""

SOFTWARE = "kraftctl", __version__.partition("+")[0]
"""What a node says of itself in ApiVersions: Kafka accepts no plus sign there (KIP-511)."""
