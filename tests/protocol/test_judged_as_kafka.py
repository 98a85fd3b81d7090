"""Damaged bytes are accepted and refused as by Kafka; the differences are listed here.

We are stricter than Kafka about text that is not UTF-8 (Kafka replaces characters), and about a tagged
field that is longer or shorter than it says (Kafka does not look). We write back in order the tags that a
peer sent out of order, which Kafka reads but fails to write.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from kraftctl_protocol.generated.index import all_messages
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError, EncodeError
from tests.protocol.golden_files import ask_kafka, read_golden

STRICTER = ("string is not UTF-8", "tagged field ends at", "bytes wanted at")
"""The last one: the size of a tagged field reaches past the end, though its value would not."""


def damaged_messages() -> Iterator[tuple[type[Message], int, bytes]]:
    """Good messages with one byte replaced, dropped or put in."""
    rng = random.Random(5)
    for cls in all_messages():
        for golden in read_golden(cls):
            if golden.case in ("null", "unknown", "low") and golden.data:
                for _ in range(2):
                    yield cls, golden.version, damage(golden.data, rng)


def damage(data: bytes, rng: random.Random) -> bytes:
    position = rng.randrange(len(data))
    replacement = rng.choice([b"", b"\x00", b"\x01", b"\x02", b"\x7f", b"\x80", b"\xff", rng.randbytes(1)])
    return data[:position] + replacement + data[position + rng.randrange(2) :]


def our_answer(cls: type[Message], version: int, data: bytes) -> str:
    """The bytes we would write for what we read, in hex, or why not."""
    try:
        return cls.decode(data, version).encode(version).hex()
    except (DecodeError, EncodeError) as error:
        return f"error: {error}"


@pytest.mark.java
def test_damaged_bytes() -> None:
    damaged = list(damaged_messages())
    answers = ask_kafka(
        [{"name": cls.NAME, "version": version, "hex": data.hex()} for cls, version, data in damaged]
    )
    both_accept = both_refuse = 0
    for (cls, version, data), theirs in zip(damaged, answers, strict=True):
        ours, where = our_answer(cls, version, data), (cls.NAME, version, data.hex(), theirs)
        if ours.startswith("error"):
            both_refuse += "error" in theirs
            assert "error" in theirs or any(reason in ours for reason in STRICTER), (ours, *where)
        elif "hex" in theirs:
            both_accept += 1
            assert ours == theirs["hex"], where
        else:
            assert "Invalid raw tag field list" in theirs["error"], where
    assert both_accept > 300
    assert both_refuse > 300
