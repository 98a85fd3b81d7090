"""The common data of every query: tables, period, end of the known log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from kraftctl_spark.history.known_ranges import KnownRange
from kraftctl_spark.report.clauses import Clauses
from kraftctl_spark.report.contents import Gap
from kraftctl_spark.report.database import Database
from kraftctl_spark.report.period import Period
from kraftctl_spark.report.queries.answers import answer


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
        """Returns all gaps, also outside of the period."""
        return self._gaps_between(self.ranges)

    @cached_property
    def ranges_of(self) -> Mapping[str, tuple[KnownRange, ...]]:
        """Returns the ranges in which each table is known."""
        columns = "start_offset, epoch_us(start_time), from_snapshot, end_offset, epoch_us(end_time)"
        rows = self.db.arrow(
            f"SELECT history_table, {columns}, '' AS cluster_id FROM {answer('known_tables')} ORDER BY 1, 2"
        )
        found: dict[str, tuple[KnownRange, ...]] = {}
        for table, *fields in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            found[table] = (*found.get(table, ()), KnownRange(*fields))
        return found

    @cached_property
    def lost(self) -> Mapping[str, tuple[Gap, ...]]:
        """Returns all gaps of each table that has others than the log, also outside of the period."""
        of_tables = {table: self._gaps_between(ranges) for table, ranges in self.ranges_of.items()}
        return {table: gaps for table, gaps in of_tables.items() if gaps != self.all_gaps}

    def gaps(self) -> tuple[Gap, ...]:
        """Returns the gaps of the period."""
        return self._in_period(self.all_gaps)

    def lost_in_period(self) -> dict[str, tuple[Gap, ...]]:
        return {table: self._in_period(gaps) for table, gaps in self.lost.items()}

    def is_known(self, table: str, offset: int) -> bool:
        return any(one.start_offset <= offset < one.end_offset for one in self.ranges_of[table])

    def _in_period(self, gaps: Sequence[Gap]) -> tuple[Gap, ...]:
        period = self.period
        return tuple(gap for gap in gaps if gap.start_ms < period.end_ms and gap.end_ms >= period.start_ms)

    def _gaps_between(self, ranges: Sequence[KnownRange]) -> tuple[Gap, ...]:
        """Returns the gaps. The last offset of a snapshot is not in the tables."""
        gaps = [
            Gap(before.end_offset, after.start_offset, end_ms(before), start_ms(after))
            for before, after in pairwise(ranges)
        ]
        last = ranges[-1]
        if last.end_offset < self.end_offset:
            gaps.append(Gap(last.end_offset, self.end_offset - 1, end_ms(last), self.covered.end_ms))
        return tuple(gaps)


def start_ms(known: KnownRange) -> int:
    """Returns the start of the known state; 0 without a record that has a time."""
    return (known.start_time_us or 0) // 1000


def end_ms(known: KnownRange) -> int:
    """Returns the time of the last record; for a snapshot alone, of its beginning."""
    return start_ms(known) if known.end_time_us is None else known.end_time_us // 1000
