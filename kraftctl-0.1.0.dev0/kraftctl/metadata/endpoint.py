"""Endpoints and version ranges as brokers and controllers register them."""

from __future__ import annotations


class Endpoint:
    """An advertised listener.

    `security_protocol` is Kafka's id: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL.
    """

    def __init__(self, name: str, host: str, port: int, security_protocol: int) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Endpoint)
            and self.name == other.name
            and self.host == other.host
            and self.port == other.port
            and self.security_protocol == other.security_protocol
        )

    def __hash__(self) -> int:
        return hash((self.name, self.host, self.port, self.security_protocol))

    def __repr__(self) -> str:
        return f"Endpoint({self.name}://{self.host}:{self.port}, {self.security_protocol})"


class VersionRange:
    """The levels of one feature that a node can run, both inclusive."""

    def __init__(self, min: int, max: int) -> None:
        self.min = min
        self.max = max

    def contains(self, level: int) -> bool:
        """Returns whether `level` lies in the range."""
        return self.min <= level <= self.max

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VersionRange) and self.min == other.min and self.max == other.max

    def __hash__(self) -> int:
        return hash((self.min, self.max))

    def __repr__(self) -> str:
        return f"{self.min}-{self.max}"
