"""What is still said about batches whose raw records were removed because of their age."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

Ranges = tuple[tuple[int, int], ...]
"""Each has the offsets from its start to before its end."""


@dataclass(frozen=True)
class Expired:
    """The records that a batch had. It has no files: only a history says what they did."""

    before_ms: int
    """All of them were older."""
    last_time_us: int | None
    """The time of the last one that has a time."""
    counts: dict[str, int]
    """The counts that its batches had."""
    decoders: tuple[str, ...]
    """The decoders of the batches that had something which was not understood."""
    snapshots: Ranges = ()
    """Those of its batches that came from a snapshot."""
    with_secrets: Ranges = ()
    """Those of its batches in which secrets were not redacted."""
    in_history: bool = False
    """Whether the history in the same commits has all of them, and may not be cut back before their end."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Returns those that follow on each other as one."""
    found: list[tuple[int, int]] = []
    for start, end in ranges:
        if found and found[-1][1] == start:
            start, _ = found.pop()
        found.append((start, end))
    return tuple(found)
