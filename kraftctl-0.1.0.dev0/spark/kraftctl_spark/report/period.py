"""The time interval of a report, and its division into buckets that people can read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

BUCKETS_MAX = 90
"""More bars are too thin to point at on a laptop."""

FINE_BUCKETS_MAX = 360
"""The limit of marks without a width, which a zoom separates."""

_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000

BUCKET_WIDTHS_MS = (
    *(count * _SECOND for count in (1, 2, 5, 10, 30)),
    *(count * _MINUTE for count in (1, 2, 5, 10, 30)),
    *(count * _HOUR for count in (1, 3, 6, 12)),
    *(count * _DAY for count in (1, 2, 7, 28)),
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Period:
    """The time from `start_ms` (inclusive) to `end_ms` (exclusive), in milliseconds of the epoch, UTC."""

    start_ms: int
    end_ms: int

    @property
    def bucket_ms(self) -> int:
        return self._width_ms(BUCKETS_MAX)

    @property
    def fine_bucket_ms(self) -> int:
        return self._width_ms(FINE_BUCKETS_MAX)

    def _width_ms(self, buckets_max: int) -> int:
        """Returns the smallest common width that needs few enough buckets; else a multiple of the largest."""
        span_ms = self.end_ms - self.start_ms
        for width_ms in BUCKET_WIDTHS_MS:
            if span_ms <= width_ms * buckets_max:
                return width_ms
        largest_ms = BUCKET_WIDTHS_MS[-1]
        return largest_ms * -(-span_ms // (largest_ms * buckets_max))

    def buckets(self) -> list[int]:
        """Returns the start of each bucket: multiples of the width, so that they do not move with the
        period.
        """
        width_ms = self.bucket_ms
        return list(range(self.start_ms - self.start_ms % width_ms, self.end_ms, width_ms))

    def part_of(self, bucket_ms: int) -> tuple[int, int]:
        """Returns the start and the end of the part of a bucket that is in the period."""
        return max(bucket_ms, self.start_ms), min(bucket_ms + self.bucket_ms, self.end_ms)


def parse_time(text: str) -> int:
    """Parses a time such as `2026-11-21T12:00:00Z` to milliseconds; ValueError for one without a zone."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a time: write it like 2026-11-21T12:00:00Z") from error
    if time.tzinfo is None:
        raise ValueError(f"{text!r} has no zone: add Z for UTC, or +02:00")
    return (time - _EPOCH) // timedelta(milliseconds=1)


def at(time_ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=time_ms)


def plot_time(time_ms: int) -> str:
    """Formats a time for a date axis; without a zone, so that every browser shows UTC."""
    return at(time_ms).strftime("%Y-%m-%d %H:%M:%S.") + f"{time_ms % 1000:03}"


def shown_time(time_ms: int) -> str:
    """Formats a time for people, in UTC."""
    return at(time_ms).strftime("%Y-%m-%d %H:%M:%S")


def shown_duration(duration_ms: float) -> str:
    """Formats a duration in its two largest units: `1 h 5 min`, `9.2 s`."""
    if duration_ms < _MINUTE:
        return f"{duration_ms / _SECOND:.3g} s"
    units = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (_SECOND, "s"))
    parts = []
    left_ms = round(duration_ms / _SECOND) * _SECOND
    for unit_ms, name in units:
        if left_ms >= unit_ms:
            parts.append(f"{left_ms // unit_ms} {name}")
            left_ms %= unit_ms
        elif parts:
            break
    return " ".join(parts[:2])
