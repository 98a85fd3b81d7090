"""Kafka's UUIDs: 16 bytes on the wire, 22 characters of unpadded base64url in text (KIP-516)."""

from __future__ import annotations

import binascii
import random
from typing import Final

from kraftctl_protocol.java_base64 import decode_base64url

Uuid = bytes
"""A UUID always has 16 bytes, big endian."""

UUID_SIZE = 16
ZERO_UUID: bytes = bytes(16)
ONE_UUID: bytes = bytes(15) + b"\x01"
"""Kafka reserves this for the topic id of the metadata log and for the directory id "unassigned"
(KIP-858)."""

TEXT_LENGTH_MAX: Final = 24
"""This length includes the padding that Kafka leaves out."""

DASH: Final = 62
"""The six bits that are "-" in base64url."""

VERSION_4: Final = 4 << 76 | 2 << 62
"""The bits that mark a UUID of version 4."""

RANDOM_BITS: Final = (1 << 128) - 1 - (0xF << 76) - (3 << 62)
"""The bits that are random."""


def uuid_to_string(value: bytes) -> str:
    """Returns the 22 characters that Kafka prints, in meta.properties and in JSON."""
    text = binascii.b2a_base64(value, newline=False)[:22].decode("ascii")
    return text.replace("+", "-").replace("/", "_")


def uuid_from_string(text: str) -> bytes:
    """Reads `uuid_to_string`'s form, with or without padding; ValueError for anything else."""
    decoded = decode_base64url(text) if len(text) <= TEXT_LENGTH_MAX else None
    if decoded is None or len(decoded) != UUID_SIZE:
        raise ValueError(f"not a Kafka UUID: {text[:30]!r}")
    return decoded


def random_uuid(rng: random.Random) -> bytes:
    """Returns a version 4 UUID: never reserved, and never one whose text looks like an option ("-...")."""
    while True:
        drawn = rng.getrandbits(128)
        if drawn >> 122 != DASH:
            # A version is above the reserved ones, too.
            return (drawn & RANDOM_BITS | VERSION_4).to_bytes(UUID_SIZE, "big")
