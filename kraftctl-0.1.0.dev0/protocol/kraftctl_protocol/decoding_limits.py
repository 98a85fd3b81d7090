"""The limits of decoding, and the memory that decoded values take."""

from __future__ import annotations

from typing import Final

ARRAY_LENGTH_MAX: Final = 1_000_000
TAGGED_FIELDS_MAX: Final = 10_000
"""Kafka 4.4 refuses more elements in one array, and more tagged fields in one section."""

UNLIMITED: Final = (1 << 62) - 1
"""A budget for bytes that this system wrote itself."""

PAUSE_WIRE_BYTES: Final = 4096
"""Code between two calls of `pause` reads this much: some 3 ms of the elements that take longest."""

LIST_COST: Final = 64
ARRAY_START_COST: Final = 32
STRING_COST: Final = 64
BYTES_COST: Final = 48
TAG_COST: Final = 176
"""Memory as CPython allocates it, rounded up: a list, the room that its first element reserves, a string and
bytes without their content, an unknown tagged field (its tuple and tag) without its bytes."""
