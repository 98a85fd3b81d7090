"""How much may be decoded, and what decoded values take."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

ARRAY_LENGTH_MAX: Final[i64] = 1_000_000
TAGGED_FIELDS_MAX: Final[i64] = 10_000
"""Kafka 4.4 refuses more elements in one array, and more tagged fields in one section."""

UNLIMITED: Final[i64] = 1 << 62
"""A budget for bytes that this system wrote itself."""

PAUSE_WIRE_BYTES: Final[i64] = 4096
"""How much is read between two calls of `pause`: some 3 ms of the elements that take longest."""

LIST_COST: Final[i64] = 64
ARRAY_START_COST: Final[i64] = 32
STRING_COST: Final[i64] = 64
BYTES_COST: Final[i64] = 48
TAG_COST: Final[i64] = 176
"""Memory as CPython allocates it, rounded up: a list, the room that its first element reserves, a string and
bytes without their content, an unknown tagged field (its tuple and tag) without its bytes."""
