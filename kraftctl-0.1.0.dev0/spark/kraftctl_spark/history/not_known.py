"""Everything that a history does not know although the log has it: since when, and why.

Behind a record of an unknown type, the known range ends. One of an unknown version, or a damaged one, may
have changed what its type changes: those tables are not known, and all others are. New fields of known
records are not known, but what the history has is right. A record about something that the log never set says
nothing about others: only that thing is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass

import pyarrow as pa

from kraftctl_spark.history.known_ranges import KnownRange
from kraftctl_spark.history.schema import NOT_KNOWN, SCHEMAS, TIME, encode_rows
from kraftctl_spark.history.versions.events import Event
from kraftctl_spark.history.versions.quarantine import NOT_SET, Quarantined
from kraftctl_spark.tables.not_understood import BEHIND_WHICH_TABLES_ARE_LOST, NEW_FIELDS, NotUnderstood

KEYS_MAX = 1_000
"""This many things have a row of their own; the records about more of them are counted in one."""


@dataclass
class NotKnown:
    """A row, with its fields in the order of the columns. It has 12 fields, because the table has."""

    start_offset: int
    start_time_us: int | None
    end_offset: int | None
    """The offset from which it is known again; None: it is not."""
    end_time_us: int | None
    reason: str
    subject: str
    history_table: str | None
    """The table that lacks it; None where all of them do, or none."""
    topic_id: str | None
    partition_id: int | None
    broker_id: int | None
    records: int
    cluster_id: str

    @property
    def what(self) -> tuple[object, ...]:
        return (
            *(self.reason, self.subject, self.history_table),
            *(self.topic_id, self.partition_id, self.broker_id),
        )


class NotKnownRows:
    """The rows of the table, in the order in which they began."""

    def __init__(self, cluster_id: str, rows: Iterable[NotKnown] = ()) -> None:
        self.rows = list(rows)
        self._cluster_id = cluster_id
        self._open = {row.what: row for row in self.rows if row.end_offset is None}

    @property
    def lost(self) -> set[str]:
        """Returns the tables that are not known while others are."""
        rows = [row for row in self._open.values() if row.reason in BEHIND_WHICH_TABLES_ARE_LOST]
        return {row.history_table for row in rows if row.history_table is not None}

    def understood_as(self, found: NotUnderstood, offset: int, time_us: int | None) -> list[Event]:
        """Adds records that were not understood, for each table that is lost; returns events for the first
        ones.
        """
        after = "everything" if found.lost is None else "nothing"
        if found.reason == NEW_FIELDS:
            after = "its new fields"
        rows = [
            NotKnown(
                *(offset, time_us, None, None, found.reason, found.subject, table, None, None, None),
                *(found.records, self._cluster_id),
            )
            for table in found.lost or (None,)
        ]
        return [_event(row, row.history_table or after) for row in rows if self._is_new(row)]

    def quarantined(self, found: Quarantined) -> Event | None:
        """Adds a record about something that the log never set; returns an event for the first one."""
        at = found.at
        row = NotKnown(
            *(at.offset, at.time_us, None, None, NOT_SET, found.subject, found.table),
            *(found.topic_id, found.partition_id, found.broker_id, 1, self._cluster_id),
        )
        if len(self._open) >= KEYS_MAX and row.what not in self._open:
            row.subject, row.topic_id, row.partition_id, row.broker_id = "others", None, None, None
        return _event(row, row.subject) if self._is_new(row) else None

    def end(self, offset: int, time_us: int | None) -> None:
        """Ends all of them, because a snapshot says everything again."""
        for row in self._open.values():
            row.end_offset, row.end_time_us = offset, time_us
        self._open = {}

    def _is_new(self, row: NotKnown) -> bool:
        before = self._open.get(row.what)
        if before is not None:
            before.records += row.records
            return False
        self._open[row.what] = row
        self.rows.append(row)
        return True


def lost_at(rows: Iterable[NotKnown], ranges: Iterable[KnownRange], offset: int) -> set[str]:
    """Returns the tables that are not known at an offset of a known range, as the question `known_tables`."""
    starts = [one.start_offset for one in ranges if one.start_offset <= offset < one.end_offset]
    return {
        row.history_table
        for row in rows
        if row.history_table is not None
        and row.reason in BEHIND_WHICH_TABLES_ARE_LOST
        and any(start <= row.start_offset <= offset for start in starts)
    }


def _event(row: NotKnown, after: str) -> Event:
    return Event(
        *(row.start_offset, row.start_time_us, None, "not known", row.subject, row.reason, after, NOT_KNOWN),
        *(row.topic_id, row.partition_id, row.broker_id),
    )


def encode_not_known(rows: Iterable[NotKnown]) -> pa.Table:
    in_order = sorted(rows, key=lambda one: one.start_offset)  # A step lists its never set things first.
    return encode_rows(SCHEMAS[NOT_KNOWN], [astuple(one) for one in in_order])


def decode_not_known(table: pa.Table) -> list[NotKnown]:
    columns = [
        (column.cast(pa.int64()) if column.type == TIME else column).to_pylist() for column in table.columns
    ]
    return [NotKnown(*row) for row in zip(*columns, strict=True)]
