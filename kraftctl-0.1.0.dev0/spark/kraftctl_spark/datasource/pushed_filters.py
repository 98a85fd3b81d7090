"""Derives from Spark's filters which offsets and times the rows of a batch read can have.

They only leave out what cannot match: Spark evaluates every filter itself, on the rows that are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from kraftctl_protocol.record_batch import RecordBatch
from kraftctl_spark.log.log_range import LogRange

OFFSET, TIMESTAMP = ("offset",), ("timestamp",)
LOWEST, HIGHEST = -(2**63), 2**63 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

NumberOf = Callable[[object], int | None]


@dataclass(frozen=True)
class Bounds:
    """A range of whole numbers, both ends inclusive."""

    lowest: int = LOWEST
    highest: int = HIGHEST

    def meet(self, other: Bounds) -> Bounds:
        """Returns the common part; nothing if its lowest is above its highest."""
        return Bounds(max(self.lowest, other.lowest), min(self.highest, other.highest))


ALL = Bounds()


@dataclass(frozen=True)
class Wanted:
    """The rows that a query may need."""

    offsets: Bounds = ALL
    chosen: frozenset[int] | None = None
    """The only wanted offsets, within their bounds; None for all."""
    without_offset: bool = True
    """Whether rows of a snapshot are wanted: they have no offset."""
    times_ms: Bounds = ALL

    def clip(self, ranges: Iterable[LogRange], epoch: int) -> list[LogRange]:
        """Returns the parts of the ranges that can have wanted rows. The record before their end has
        `epoch`.
        """
        clipped = (one if one.snapshot else self._clip(one, epoch) for one in ranges)
        return [one for one in clipped if one is not None and (self.without_offset or not one.snapshot)]

    def _clip(self, one: LogRange, epoch: int) -> LogRange | None:
        """Clips a range, which stays one: Spark starts a task for each."""
        lowest, highest = max(one.start, self.offsets.lowest), min(one.end - 1, self.offsets.highest)
        if self.chosen is not None:
            within = [offset for offset in self.chosen if lowest <= offset <= highest]
            lowest, highest = min(within, default=one.end), max(within, default=one.start)
        if lowest > highest:
            return None
        later = one.epoch if lowest == one.start else max(one.epoch, epoch)
        return replace(one, start=lowest, end=highest + 1, epoch=later)


EVERYTHING = Wanted()


def has_time_in(times_ms: Bounds, batch: RecordBatch) -> bool:
    """Returns whether a record of the batch has such a time; its header's times may be wrong."""
    return any(times_ms.lowest <= record.timestamp_ms <= times_ms.highest for record in batch.records)


def wanted_of(filters: Iterable[Filter]) -> Wanted:
    """Returns the rows that all filters let through; filters of another kind are ignored."""
    wanted = EVERYTHING
    for one in filters:
        column = getattr(one, "attribute", None)
        if column == OFFSET:
            wanted = _with_offsets(wanted, one)
        elif column == TIMESTAMP and (times_us := _bounds(one, _microseconds)) is not None:
            # A record's time is a whole number of milliseconds.
            times_ms = Bounds(-(-times_us.lowest // 1000), times_us.highest // 1000)
            wanted = replace(wanted, times_ms=wanted.times_ms.meet(times_ms))
    return wanted


def _with_offsets(wanted: Wanted, one: Filter) -> Wanted:
    if isinstance(one, IsNotNull):
        return replace(wanted, without_offset=False)
    offsets = _bounds(one, _whole)
    if offsets is None:
        return wanted
    chosen = wanted.chosen
    if isinstance(one, In):
        values = frozenset(value for value in one.value if value is not None)
        chosen = values if chosen is None else chosen & values
    return replace(wanted, offsets=wanted.offsets.meet(offsets), chosen=chosen, without_offset=False)


def _bounds(one: Filter, number_of: NumberOf) -> Bounds | None:
    """Returns the bounds of a comparison; None for other filters, and for values that are not numbers."""
    if isinstance(one, In):
        numbers = [number_of(value) for value in one.value if value is not None]
        known = [number for number in numbers if number is not None]
        if len(known) < len(numbers):
            return None
        return Bounds(min(known, default=HIGHEST), max(known, default=LOWEST))
    if not isinstance(one, (EqualTo, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual)):
        return None
    number = number_of(one.value)
    if number is None:
        return None
    if isinstance(one, EqualTo):
        return Bounds(number, number)
    if isinstance(one, (GreaterThan, GreaterThanOrEqual)):
        return Bounds(lowest=number + 1 if isinstance(one, GreaterThan) else number)
    return Bounds(highest=number - 1 if isinstance(one, LessThan) else number)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _microseconds(value: object) -> int | None:
    if not isinstance(value, datetime) or value.tzinfo is None:
        return None
    return (value - _EPOCH) // _MICROSECOND
