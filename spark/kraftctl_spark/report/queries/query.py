"""What every query needs: the tables, the period, and up to where the log is known."""

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
    """That of everything, whatever the period is."""

    @property
    def log_end_ms(self) -> int:
        """The time of the last record."""
        return end_ms(self.ranges[-1])

    @cached_property
    def within(self) -> Clauses:
        return Clauses(self.period, self.log_end_ms, self.covered.end_ms - 1)

    @cached_property
    def all_gaps(self) -> tuple[Gap, ...]:
        """Also those outside of the period. The last offset that a snapshot contains is not in the tables."""
        return tuple(
            Gap(before.end_offset, after.start_offset, end_ms(before), start_ms(after))
            for before, after in zip(self.ranges, self.ranges[1:], strict=False)
        )

    def gaps(self) -> tuple[Gap, ...]:
        """Those of the period."""
        period = self.period
        return tuple(
            gap for gap in self.all_gaps if gap.start_ms < period.end_ms and gap.end_ms >= period.start_ms
        )


def start_ms(known: KnownRange) -> int:
    """Where the state is known; 0 without a record that has a time."""
    return (known.start_time_us or 0) // 1000


def end_ms(known: KnownRange) -> int:
    """Of the last record, of a snapshot alone where it begins."""
    return start_ms(known) if known.end_time_us is None else known.end_time_us // 1000
