"""What the views read: versions and events of the history, and the ranges of offsets that it knows.

Where part of the log was deleted before it could be exported, a snapshot replaces it. The known log is
therefore one or more ranges without a gap. Every range but one that starts at offset 0 starts with a
snapshot, which contains the whole state at that offset.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraftctl_spark.history import known_ranges as history_ranges
from kraftctl_spark.history.schema import EVENTS
from kraftctl_spark.history.versions.kinds import Kind

HISTORY = "history_"
"""The prefix of the history's tables in the session."""


class UnknownPointError(ValueError):
    """The history does not contain the requested state; the message says which states it contains."""


@dataclass(frozen=True)
class KnownRange:
    """Offsets [start, end) without a gap, and the snapshot of everything before `start` unless that is 0."""

    start: int
    end: int
    from_snapshot: bool
    start_ms: int
    """The state is known from this time on."""
    end_ms: int
    """The time of the last record."""

    @property
    def first_known(self) -> int:
        """The first offset at which the state is known; of a snapshot, the last one that it contains."""
        return self.start - 1 if self.from_snapshot else self.start

    @staticmethod
    def of(known: history_ranges.KnownRange) -> KnownRange:
        start_ms, end_ms = (
            0 if time_us is None else time_us // 1000 for time_us in (known.start_time_us, known.end_time_us)
        )
        start = known.start_offset + known.from_snapshot
        return KnownRange(start, known.end_offset, known.from_snapshot, start_ms, end_ms)


@dataclass(frozen=True)
class LogHistory:
    """The history for the SQL of the views: all of it, or the state at an offset."""

    known_ranges: tuple[KnownRange, ...]
    as_of: int | None = None
    prefix: str = ""
    """The prefix of all tables in the session."""

    @property
    def last(self) -> KnownRange:
        return self.known_ranges[-1]

    def cut(self, offset: int) -> LogHistory:
        """Returns the state at an offset; UnknownPointError when that is not known."""
        for known in self.known_ranges:
            if known.first_known <= offset < known.end:
                return replace(self, known_ranges=(known,), as_of=offset)
        offsets = ", ".join(f"{one.first_known} to {one.end - 1}" for one in self.known_ranges)
        raise UnknownPointError(
            f"the state as of offset {offset} is not known: choose an offset from {offsets or 'nothing yet'}"
        )

    def table(self, kind: Kind) -> str:
        """Returns all versions, with all columns of the history."""
        return f"`{self.prefix}{HISTORY}{kind.name}`"

    def versions(self, kind: Kind) -> str:
        """Returns the table of its versions, or those that are valid at the offset."""
        where = f" WHERE {self.valid()}" if self.as_of is not None else ""
        return f"(SELECT * FROM {self.table(kind)}{where})"

    def valid(self) -> str:
        """Returns SQL for whether a version is valid at the offset."""
        return (
            f"(valid_from_offset <= {self.as_of} "
            f"AND (valid_to_offset IS NULL OR valid_to_offset > {self.as_of}))"
        )

    def valid_but_not(self, other: LogHistory) -> str:
        """Returns SQL for whether it is valid at this offset, but not at that of the other.

        The bounds are of one column each, so that parts of the files are left out.
        """
        assert self.as_of is not None
        assert other.as_of is not None
        if self.as_of < other.as_of:
            return (
                f"valid_from_offset <= {self.as_of} "
                f"AND valid_to_offset > {self.as_of} AND valid_to_offset <= {other.as_of}"
            )
        return f"{self.valid()} AND valid_from_offset > {other.as_of}"

    def intervals(self, kind: Kind) -> str:
        """Returns all versions, from `at` and `time` to `end_at` and `end_time`.

        What has not ended, or was last known before a gap, has no `end_at`; it ends at the last known time.
        `ending` is `change`, `deleted`, `gap`, or `end` of the log.
        """
        return (
            "(SELECT *, valid_from_offset AS at, valid_from_time AS time, "
            "CASE WHEN ended_by <> 'gap' THEN valid_to_offset END AS end_at, "
            f"coalesce(valid_to_time, {self.end_time('valid_from_offset')}) AS end_time, "
            "CASE ended_by WHEN 'changed' THEN 'change' WHEN 'removed' THEN 'deleted' "
            "WHEN 'gap' THEN 'gap' ELSE 'end' END AS ending "
            f"FROM {self.table(kind)})"
        )

    def events(self, *kinds: str) -> str:
        """Returns the events of these kinds."""
        wanted = ", ".join(f"'{kind}'" for kind in kinds)
        return f"(SELECT * FROM `{self.prefix}{HISTORY}{EVENTS}` WHERE kind IN ({wanted}))"

    def rows(self, table: str, aborted: bool = False) -> str:
        """Returns a subquery of the rows of a typed table that have an effect; with `aborted`, of all rows.

        It adds columns. `at` gives the order; the rows of a snapshot are at its last offset. `time` is that
        of the record, or of the last record in the snapshot. `in_snapshot` says whether the row comes from a
        snapshot. `range_start` is where the known range starts. Without what the history lacks.
        """
        at = "coalesce(offset, snapshot_end_offset - 1)"
        last = self.last.end - 1 if self.as_of is None else self.as_of
        where = f"{at} BETWEEN {self.known_ranges[0].first_known} AND {last}"
        if not aborted:
            where += " AND aborted IS NOT TRUE"
        return (
            f"(SELECT *, {at} AS at, CASE WHEN offset IS NULL THEN {self._of_range(at, 'start_ms')} "
            "ELSE timestamp END AS time, offset IS NULL AS in_snapshot, "
            f"{self.range_start(at)} AS range_start FROM `{self.prefix}{table}` WHERE {where})"
        )

    def range_start(self, at: str) -> str:
        """Returns SQL for the start of the range that this offset is in."""
        return self._case(at, [f"{one.start}L" for one in self.known_ranges])

    def end_time(self, at: str) -> str:
        """Returns SQL for the time up to which the range that this offset is in is known."""
        return self._of_range(at, "end_ms")

    def _of_range(self, at: str, attribute: str) -> str:
        times = [f"timestamp_millis({getattr(one, attribute)})" for one in self.known_ranges]
        return self._case(at, times)

    def _case(self, at: str, values: list[str]) -> str:
        """Returns SQL that selects a value of each range."""
        if len(values) == 1:
            return values[0]
        pairs = list(zip(self.known_ranges, values, strict=True))
        cases = " ".join(f"WHEN {at} >= {one.first_known} THEN {value}" for one, value in reversed(pairs[1:]))
        return f"CASE {cases} ELSE {values[0]} END"
