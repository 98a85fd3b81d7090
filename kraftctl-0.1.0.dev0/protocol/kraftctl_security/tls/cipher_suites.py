"""Names of cipher suites for TLS 1.2: Kafka's files have those of Java, OpenSSL has its own."""

from __future__ import annotations

from typing import Final

TLS_1_3_SUITES: Final = (
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_AES_128_GCM_SHA256",
)
"""Python's ssl always offers all of them."""

_KEY_EXCHANGES: Final = (("ECDHE_ECDSA", "ECDHE-ECDSA-"), ("ECDHE_RSA", "ECDHE-RSA-"), ("RSA", ""))

_CIPHERS: Final = (
    ("AES_256_GCM_SHA384", "AES256-GCM-SHA384"),
    ("AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
    ("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305"),
    ("AES_256_CBC_SHA384", "AES256-SHA384"),
    ("AES_256_CBC_SHA256", "AES256-SHA256"),
    ("AES_128_CBC_SHA256", "AES128-SHA256"),
    ("AES_256_CBC_SHA", "AES256-SHA"),
    ("AES_128_CBC_SHA", "AES128-SHA"),
)

_WITHOUT_FORWARD_SECRECY: Final = ("CHACHA20_POLY1305_SHA256", "AES_256_CBC_SHA384")
"""These suites exist with ECDHE only, and AES_256_CBC_SHA256 with RSA only."""


def _table() -> dict[str, str]:
    table: dict[str, str] = {}
    for exchange, openssl_exchange in _KEY_EXCHANGES:
        for cipher, openssl_cipher in _CIPHERS:
            ephemeral = exchange != "RSA"
            if cipher == "AES_256_CBC_SHA256" if ephemeral else cipher in _WITHOUT_FORWARD_SECRECY:
                continue
            table[f"TLS_{exchange}_WITH_{cipher}"] = openssl_exchange + openssl_cipher
    return table


OPENSSL_NAMES: Final = _table()
"""OpenSSL's name for each of Java's. Without DHE, for which Python's ssl has no parameters."""
