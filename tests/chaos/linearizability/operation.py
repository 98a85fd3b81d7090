"""One request of a client, from its sending to its response, and what its response promises."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum


class Unknown(Enum):
    """The result of an operation without a response, or with one that leaves open whether it was made."""

    UNKNOWN = "unknown"


UNKNOWN = Unknown.UNKNOWN


class Promise(Enum):
    """What the sender of a response answers for: see docs/apis.md, "What a response promises"."""

    LINEARIZABLE = "linearizable"
    """The operation takes effect once, at a moment between its request and its response."""

    SEQUENTIAL = "sequential"
    """A read of a state that was committed before the response, however long ago. Reads on one connection
    never go back."""


@dataclass(frozen=True)
class Operation:
    """Times are of time.monotonic_ns(), of one machine."""

    client: str
    name: str
    argument: Hashable
    result: Hashable
    invoked_ns: int
    returned_ns: int | None
    """None if the result is UNKNOWN: the operation may take effect at any later time, or never."""
    promise: Promise = Promise.LINEARIZABLE
    is_read: bool = False
    """Whether it changes nothing: a read, or a request that was refused."""
    connection: str = ""
    """Of a sequential read: the connection that it came on."""

    def __str__(self) -> str:
        returned = "" if self.returned_ns is None else f"-{self.returned_ns / 1e9:.6f}"
        times = f"{self.invoked_ns / 1e9:.6f}{returned}"
        promise = " (sequential)" if self.promise is Promise.SEQUENTIAL else ""
        result = "no response" if self.result is UNKNOWN else f"{self.result!r}"
        return f"{times} {self.client}: {self.name} {self.argument!r} -> {result}{promise}"
