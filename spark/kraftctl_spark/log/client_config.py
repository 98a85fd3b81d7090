"""Kafka's client keys, as its tools take them in a --command-config file.

Connections are PLAINTEXT. The keys for TLS and SASL have the names they have in Kafka, and are refused until
they do something: a job that believes it is encrypted must not start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SECURITY_PROTOCOL = "security.protocol"
PLAINTEXT = "PLAINTEXT"
CLIENT_ID = "client.id"
REQUEST_TIMEOUT_MS = "request.timeout.ms"
KEYS = (SECURITY_PROTOCOL, CLIENT_ID, REQUEST_TIMEOUT_MS)
SECURITY_PREFIXES = ("ssl.", "sasl.")


@dataclass(frozen=True)
class ClientConfig:
    """How to talk to controllers."""

    client_id: str = "kraftctl-spark"
    request_timeout_ms: int = 60_000
    """How long a request may remain without a usable response from any controller."""

    @property
    def timeout_s(self) -> float:
        return self.request_timeout_ms / 1000


def parse_client_config(properties: Mapping[str, str]) -> ClientConfig:
    """ValueError that names the key and what is allowed."""
    for key in properties:
        _check_known(key)
    protocol = properties.get(SECURITY_PROTOCOL, PLAINTEXT)
    if protocol.upper() != PLAINTEXT:
        raise ValueError(
            f"{SECURITY_PROTOCOL}={protocol} is not supported: only {PLAINTEXT} is, so name a controller "
            "listener of that kind, or read a controller's directory"
        )
    return ClientConfig(
        properties.get(CLIENT_ID, ClientConfig.client_id),
        parse_timeout_ms(REQUEST_TIMEOUT_MS, properties.get(REQUEST_TIMEOUT_MS)),
    )


def parse_timeout_ms(key: str, text: str | None) -> int:
    """The default without a text; ValueError that names `key`."""
    if text is None:
        return ClientConfig.request_timeout_ms
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(f"{key}={text} is not a number of milliseconds: give a whole number above 0")
    return int(text)


def _check_known(key: str) -> None:
    """Values are not repeated: that of a key which is not supported may be a secret."""
    if key in KEYS:
        return
    if key.startswith(SECURITY_PREFIXES):
        raise ValueError(
            f"{key} is not supported: connections are {PLAINTEXT} only, so remove the keys that begin with"
            " ssl. and sasl."
        )
    raise ValueError(f"{key} is not known: allowed are {', '.join(KEYS)}")
