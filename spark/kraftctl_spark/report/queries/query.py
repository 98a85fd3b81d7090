"""The common data of every query: tables, period, end of the known log."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kraftctl_spark.history.known_ranges import KnownRange
from kraftctl_spark.report.clauses import Clauses
from kraftctl_spark.report.contents import Gap
from kraftctl_spark.report.database import Database
from kraftctl_spark.report.period import Period


@dataclass(frozen=True)
class Query:
    """Asks about one period."""

    db: Database
    period: Period
    ranges: tuple[KnownRange, ...]
    covered: Period
    """The period of all tables, whatever the requested one is."""
    end_offset: int
    """The history has read everything before it."""
    has_audit_log: bool = False

    @property
    def log_end_ms(self) -> int:
        """The time of the last record."""
        return end_ms(self.ranges[-1])

    @cached_property
    def within(self) -> Clauses:
        return Clauses(self.period, self.log_end_ms, self.covered.end_ms - 1)

    @cached_property
    def all_gaps(self) -> tuple[Gap, ...]:
        """Returns all gaps, also outside of the period. The last offset of a snapshot is not in the
        tables.
        """
        gaps = [
            Gap(before.end_offset, after.start_offset, end_ms(before), start_ms(after))
            for before, after in zip(self.ranges, self.ranges[1:], strict=False)
        ]
        last = self.ranges[-1]
        if last.end_offset < self.end_offset:
            gaps.append(Gap(last.end_offset, self.end_offset - 1, end_ms(last), self.covered.end_ms))
        return tuple(gaps)

    def gaps(self) -> tuple[Gap, ...]:
        """Returns the gaps of the period."""
        period = self.period
        return tuple(
            gap for gap in self.all_gaps if gap.start_ms < period.end_ms and gap.end_ms >= period.start_ms
        )


def start_ms(known: KnownRange) -> int:
    """Returns the start of the known state; 0 without a record that has a time."""
    return (known.start_time_us or 0) // 1000


def end_ms(known: KnownRange) -> int:
    """Returns the time of the last record; for a snapshot alone, of its beginning."""
    return start_ms(known) if known.end_time_us is None else known.end_time_us // 1000
