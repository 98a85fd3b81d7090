"""Says up to where a log was read, and of when that is: what follows may be known to others already."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from kraftctl.explain.replayed_log import ReplayedLog


class NotKnownError(Exception):
    """The log does not say what was at that place; the text says what it has."""


@dataclass(frozen=True)
class AsOf:
    """An offset, whose record is the last one that counts, or a time."""

    offset: int | None = None
    time_ms: int | None = None

    @property
    def end_offset(self) -> int | None:
        """The end of what counts, exclusive; None for a time."""
        return None if self.offset is None else self.offset + 1


def parse_as_of(text: str) -> AsOf:
    """Parses an offset, or a time with a zone. Raises ValueError with the reason."""
    if text.isdecimal():
        return AsOf(offset=int(text))
    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"'{text}' is neither an offset nor a time like 2026-11-21T12:00:00Z") from error
    if time.tzinfo is None:
        raise ValueError(f"'{text}' has no zone: add Z for UTC, or +02:00")
    return AsOf(time_ms=int(time.timestamp() * 1000))


def check_known(log: ReplayedLog, as_of: AsOf, end_offset: int) -> None:
    """Checks a log that was replayed up to a place, and is known up to `end_offset`.

    Raises NotKnownError before the snapshot with which it begins, and behind its end.
    """
    begin = 0 if log.snapshot is None else log.snapshot.offset - 1
    known = f"the log is known from offset {begin} to {end_offset - 1}"
    if as_of.offset is not None and log.end_offset != as_of.offset + 1:
        raise NotKnownError(f"What was at offset {as_of.offset} is not known: {known}")
    if as_of.time_ms is None:
        return
    last_ms, is_whole = log.last_timestamp_ms, log.end_offset == end_offset
    if log.end_offset == 0 or last_ms > as_of.time_ms or (is_whole and last_ms < as_of.time_ms):
        raise NotKnownError(f"What was at that time, before or after all records, is not known: {known}")


def as_of_text(log: ReplayedLog) -> str:
    """Returns the line below an explanation of a log that may have ended long ago."""
    if log.end_offset == 0:
        return "As of the begin of the log: nothing in it is known to be committed"
    time = datetime.datetime.fromtimestamp(log.last_timestamp_ms / 1000, datetime.UTC)
    line = f"As of {time:%Y-%m-%d %H:%M:%S} UTC, the newest record, before offset {log.end_offset}; read from"
    if log.snapshot is None:
        return f"{line} the log"
    snapshot = f"the snapshot {log.snapshot.offset}-{log.snapshot.epoch}"
    has_more = log.end_offset > log.snapshot.offset
    return f"{line} {snapshot} and the log behind it" if has_more else f"{line} {snapshot}"


def as_of_json(log: ReplayedLog) -> dict[str, object]:
    """Returns the same for programs."""
    snapshot = log.snapshot
    return {
        "last_record_ms": log.last_timestamp_ms if log.end_offset else None,
        "snapshot": None if snapshot is None else {"end_offset": snapshot.offset, "epoch": snapshot.epoch},
    }
