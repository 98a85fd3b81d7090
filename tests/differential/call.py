"""A call as both controllers get it: ids that a controller makes are named, and each side has its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.differential.codec import Body


@dataclass(frozen=True)
class Ref:
    """An id that each side knows for itself: the id of a topic, the epoch of a broker, an hmac."""

    kind: str
    key: Any = 0
    delta: int = 0


@dataclass(frozen=True)
class Forwarded:
    """In whose name a broker forwards a call (KIP-590)."""

    name: str
    type: str = "User"
    token: bool = False
    host: bytes = b"\x0a\x00\x00\x05"


@dataclass(frozen=True)
class Damage:
    """What is done to the encoded body: bytes cut off its end, appended, or one replaced at a position."""

    cut_bytes: int = 0
    appended: bytes = b""
    position: int = -1
    byte: int = 0

    def apply(self, data: bytes) -> bytes:
        if self.cut_bytes:
            data = data[: -self.cut_bytes]
        if self.position >= 0 and data:
            at = self.position % len(data)
            data = data[:at] + bytes([self.byte]) + data[at + 1 :]
        return data + self.appended


@dataclass
class Call:
    """One request."""

    api: str
    version: int
    body: Body = field(default_factory=dict)
    forwarded: Forwarded | None = None
    damage: Damage | None = None
    header: Body = field(default_factory=dict)
    """Fields of the request header that are not as usual."""


@dataclass
class Response:
    """What came back: a body, or why there is none."""

    status: str
    body: Body | None = None


SILENCE = "silence"
"""The name of a call that is none: no call is made until the sessions of all brokers are over."""

ANSWERED = "answered"
CLOSED = "closed"
SILENT = "silent"
