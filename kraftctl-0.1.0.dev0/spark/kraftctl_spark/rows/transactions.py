"""Finds records that were aborted with a metadata transaction, and open transactions (KIP-868).

The records between BeginTransactionRecord and AbortTransactionRecord have no effect. Whether a transaction
is completed or aborted is only known at its end, so the export stops before a transaction that is open.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_spark.rows.metadata_rows import MetadataRows

BEGIN, END, ABORT = BeginTransactionRecord.NAME, EndTransactionRecord.NAME, AbortTransactionRecord.NAME
MARKERS = frozenset({BEGIN, END, ABORT})

Marker = tuple[int, str]
"""The offset and type of a record that begins or ends a transaction."""

OffsetRange = tuple[int, int]
"""A range from the first offset to the last one, both inclusive."""


@dataclass(frozen=True)
class Transactions:
    """The transactions in a range of the log, from its markers."""

    aborted: tuple[OffsetRange, ...] = field(default=())
    """The records between a begin and its abort, without these two."""
    open_since: int | None = None
    """Offset of the begin that has no end yet."""


def resolve(start: int, markers: Iterable[Marker]) -> Transactions:
    """Finds the transactions; `start` is the first offset of the range, normally outside of any."""
    aborted: list[OffsetRange] = []
    open_since: int | None = None
    for offset, kind in sorted(markers):
        if kind == BEGIN:
            open_since = offset
            continue
        first = start if open_since is None else open_since + 1
        if kind == ABORT and first < offset:
            aborted.append((first, offset - 1))
        open_since = None
    return Transactions(tuple(aborted), open_since)


def markers_of(rows: MetadataRows) -> list[Marker]:
    """Returns markers in no particular order. A snapshot's records belong to no open transaction.

    A marker counts in any version: without its begin, an abort would abort everything before it.
    """
    if rows.snapshot_end_offset is not None:
        return []
    return [(rows.runs.offset(place), name) for place, name in rows.find(MARKERS)]


def mark_aborted(rows: MetadataRows, aborted: tuple[OffsetRange, ...]) -> None:
    """Marks rows of aborted transactions, to which control records never belong."""
    rows.aborted = {place for first, last in aborted for place in rows.runs.places_between(first, last)}
