"""What the views read: the tables of the history, and the ranges of offsets that it knows.

Where part of the log was deleted before it could be exported, a snapshot replaces it. The known log is
therefore one or more ranges without a gap. Every range but one that starts at offset 0 starts with a
snapshot, which contains the whole state at that offset.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraftctl_spark.history.known_ranges import KnownRange
from kraftctl_spark.history.not_known import NotKnown, lost_at
from kraftctl_spark.history.questions.questions import query_of, tables_of
from kraftctl_spark.history.versions.kinds import Kind

HISTORY = "history_"
"""The prefix of the history's tables in the session."""


class UnknownPointError(ValueError):
    """The history does not contain the requested state; the message says which states it contains."""


@dataclass(frozen=True)
class LogHistory:
    """The history for the SQL of the views: all of it, or the state at an offset."""

    known_ranges: tuple[KnownRange, ...]
    end: int = 0
    """The history has read everything before it; what is known may end earlier."""
    as_of: int | None = None
    prefix: str = ""
    """The prefix of all tables in the session."""
    not_known: tuple[NotKnown, ...] = ()

    @property
    def lost(self) -> set[str]:
        """Returns the tables that are not known at the offset."""
        assert self.as_of is not None
        return lost_at(self.not_known, self.known_ranges, self.as_of)

    @property
    def last(self) -> KnownRange:
        return self.known_ranges[-1]

    @property
    def is_lost(self) -> bool:
        """Returns whether nothing is known at the end: records there were not understood."""
        return self.last.end_offset < self.end

    def cut(self, offset: int) -> LogHistory:
        """Returns the state at an offset; UnknownPointError when that is not known."""
        if any(known.start_offset <= offset < known.end_offset for known in self.known_ranges):
            return replace(self, as_of=offset)
        offsets = ", ".join(f"{one.start_offset} to {one.end_offset - 1}" for one in self.known_ranges)
        raise UnknownPointError(
            f"the state as of offset {offset} is not known: choose an offset from {offsets or 'nothing yet'}"
        )

    def table(self, name: str) -> str:
        """Returns a table of the history, with all its columns."""
        return f"`{self.prefix}{HISTORY}{name}`"

    def answer(self, question: str) -> str:
        """Returns the SQL of a question over the tables of this session; its parameters are left in it."""
        tables = ", ".join(f"{name} AS (SELECT * FROM {self.table(name)})" for name in tables_of(question))
        return f"WITH {tables} SELECT * FROM (\n{query_of(question)}\n)"

    def versions(self, kind: Kind) -> str:
        """Returns the versions that are valid at the offset."""
        return f"(SELECT * FROM {self.table(kind.name)} WHERE {self.valid()})"

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
