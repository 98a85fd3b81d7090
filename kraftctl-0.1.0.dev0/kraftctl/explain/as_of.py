"""Says up to where a log was read, and of when that is: what follows may be known to others already."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Final

from kraftctl.explain.replayed_log import ReplayedLog
from kraftctl_protocol.asked_time import span_ms_of
from kraftctl_protocol.record_batch import RecordBatch

EPOCH: Final = datetime.datetime.fromtimestamp(0, datetime.UTC)

NOTHING_COMMITTED: Final = "Nothing in the log is known to be committed"
ASSUME: Final = "add --assume-committed"
"""The step for a directory of one of several voters, which has no snapshot yet."""


class NotKnownError(Exception):
    """The log does not say what was at that place; the text says what it has."""


@dataclass(frozen=True)
class AsOf:
    """An offset, whose batch is the last one that counts, or a time. Batches count as a whole."""

    offset: int | None = None
    time_ms: int | None = None
    span_ms: int = 0
    """How long after that records still count: a time without a fraction is a whole second."""

    def includes(self, batch: RecordBatch) -> bool:
        """Returns whether a batch counts."""
        if self.offset is not None:
            return batch.header.base_offset <= self.offset
        return self.time_ms is None or batch.header.max_timestamp_ms <= self.time_ms + self.span_ms

    def now_ms(self, log: ReplayedLog) -> int:
        """Returns up to when ages count: the time that was asked about, or that of the newest record."""
        return max(self.time_ms or 0, log.last_timestamp_ms)


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
    time_ms = (time - EPOCH) // datetime.timedelta(milliseconds=1)
    return AsOf(time_ms=time_ms, span_ms=span_ms_of(text))


def check_known(log: ReplayedLog, as_of: AsOf, end_offset: int) -> None:
    """Checks a log that was replayed up to a place, and is known up to `end_offset`.

    Raises NotKnownError before the snapshot with which it begins, behind its end, and while that is 0.
    """
    if end_offset == 0:
        raise NotKnownError(f"{NOTHING_COMMITTED}: {ASSUME}")
    begin = 0 if log.snapshot is None else log.snapshot.offset - 1
    known = f"the log is known from offset {begin} to {end_offset - 1}"
    if as_of.offset is not None and not begin <= as_of.offset < log.end_offset:
        raise NotKnownError(f"What was at offset {as_of.offset} is not known: {known}")
    if as_of.time_ms is None:
        return
    last_ms, is_whole = log.last_timestamp_ms, log.end_offset == end_offset
    is_later = last_ms > as_of.time_ms + as_of.span_ms
    if log.end_offset == 0 or is_later or (is_whole and last_ms < as_of.time_ms):
        raise NotKnownError(f"What was at that time, before or after all records, is not known: {known}")


def as_of_text(log: ReplayedLog, as_of: AsOf | None = None) -> str:
    """Returns the line below an explanation of a log that may have ended long ago, or was read to a place."""
    if log.end_offset == 0:
        return "As of the begin of the log: nothing in it is known to be committed"
    time = datetime.datetime.fromtimestamp(log.last_timestamp_ms / 1000, datetime.UTC)
    line = f"As of {time:%Y-%m-%d %H:%M:%S} UTC, the newest record, before offset {log.end_offset}; read from"
    return f"{line} {_source_text(log)}{_rest_text(log, as_of)}"


def as_of_json(log: ReplayedLog) -> dict[str, object]:
    """Returns the same for programs."""
    snapshot = log.snapshot
    return {
        "last_record_ms": log.last_timestamp_ms if log.end_offset else None,
        "snapshot": None if snapshot is None else {"end_offset": snapshot.offset, "epoch": snapshot.epoch},
        "open_transaction": log.open_transaction_offset,
    }


def _source_text(log: ReplayedLog) -> str:
    if log.snapshot is None:
        return "the log"
    snapshot = f"the snapshot {log.snapshot.offset}-{log.snapshot.epoch}"
    return f"{snapshot} and the log behind it" if log.end_offset > log.snapshot.offset else snapshot


def _rest_text(log: ReplayedLog, as_of: AsOf | None) -> str:
    """Returns how the state differs from all records up to the place that was asked about."""
    text = ""
    if as_of is not None and as_of.offset is not None and log.end_offset > as_of.offset + 1:
        text = f"; offset {as_of.offset} is within a batch, which counts as a whole"
    begin = log.open_transaction_offset
    if begin is not None:
        text += f"; the transaction that begins at offset {begin} has not ended: nothing of it counts"
    return text
