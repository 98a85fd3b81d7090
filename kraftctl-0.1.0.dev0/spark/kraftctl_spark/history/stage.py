"""The stage of the history turns versions and committed records, in log order, into more versions.

Its whole state is the versions that are still open: a stage made from those continues without a difference.
The cost of a record does not depend on how long the history is. Most records are about partitions: those are
computed as columns (docs/adr/0014), all others one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any, NamedTuple

import pyarrow as pa

from kraftctl_protocol.record_types import RECORD_TYPES
from kraftctl_spark.history.partitions.event_columns import in_log_order, numbered
from kraftctl_spark.history.partitions.open_partitions import OpenPartitions
from kraftctl_spark.history.partitions.partitions import PartitionRows, Partitions
from kraftctl_spark.history.partitions.steps import Step
from kraftctl_spark.history.record_columns import COLUMNS
from kraftctl_spark.history.schema import EVENTS, EVENTS_SCHEMA, SCHEMAS, encode_events, encode_versions
from kraftctl_spark.history.versions import events
from kraftctl_spark.history.versions.brokers import Brokers
from kraftctl_spark.history.versions.keyed import Handler, Quorum, handler_of
from kraftctl_spark.history.versions.kinds import KINDS, PARTITIONS, QUORUM
from kraftctl_spark.history.versions.quarantine import Quarantine, Quarantined
from kraftctl_spark.history.versions.topics import Topics
from kraftctl_spark.history.versions.versions import Change, LogPlace, Version, Versions
from kraftctl_spark.rows.record_names import column_name

Placed = tuple[int, Handler, tuple[Any, ...], LogPlace]

Note = Callable[[list[Quarantined]], list[events.Event]]

ONE_BY_ONE = tuple(kind for kind in KINDS if kind is not PARTITIONS)


def _no_notes(found: list[Quarantined]) -> list[events.Event]:
    return []


class DoneByStep(NamedTuple):
    """The ended versions and events of a step, as rows when they are asked for."""

    passes: list[PartitionRows]
    changes: list[Change]
    """Yields the changes of other kinds."""
    cluster_id: str
    notes: list[events.Event]
    """The events that no change of a version has."""

    def ended_partitions(self) -> pa.Table:
        empty = SCHEMAS[PARTITIONS.name].empty_table()
        return pa.concat_tables([empty, *(one.ended(self.cluster_id) for one in self.passes)])

    def events(self) -> pa.Table:
        """Returns the events; before a topic is removed, its partitions are deleted."""
        of_partitions = [found for one in self.passes if (found := one.events()) is not None]
        others = encode_events(list(events.events_of(self.changes)), self.cluster_id)
        notes = encode_events(self.notes, self.cluster_id)
        return in_log_order([*of_partitions, numbered(others), numbered(notes)], self.cluster_id)


class Marked(NamedTuple):
    """A gap or a snapshot in the log."""

    ended: pa.Table
    event: pa.Table

    def ended_partitions(self) -> pa.Table:
        return self.ended

    def events(self) -> pa.Table:
        return self.event


Done = DoneByStep | Marked


class Outcome(NamedTuple):
    """The ended versions and events of steps. Making rows of it takes long: another thread may do it."""

    cluster_id: str
    done: list[Done]
    closed: dict[str, list[Version]]
    """Returns ended versions by kind, without partitions, in the order in which they ended."""

    def rows(self) -> dict[str, pa.Table]:
        """Returns rows by table: events, and versions that have ended."""
        found = {
            EVENTS: pa.concat_tables([EVENTS_SCHEMA.empty_table(), *(one.events() for one in self.done)]),
            PARTITIONS.name: pa.concat_tables(
                [SCHEMAS[PARTITIONS.name].empty_table(), *(one.ended_partitions() for one in self.done)]
            ),
        }
        for kind in ONE_BY_ONE:
            found[kind.name] = encode_versions(kind, self.closed[kind.name], self.cluster_id)
        return found


class HistoryStage:
    """The versions of all kinds, of one cluster."""

    def __init__(
        self,
        cluster_id: str,
        still_open: Mapping[str, Iterable[Version]] | None = None,
        partitions: OpenPartitions | None = None,
        lost: Iterable[str] = (),
    ) -> None:
        found = still_open or {}
        self.lost = set(lost)
        """The tables whose records have no effect until the next snapshot."""
        self._cluster_id = cluster_id
        self._changes: list[Change] = []
        """The changes of all kinds but partitions, in their order."""
        self._done: list[Done] = []
        self._quarantine = Quarantine()
        self.partitions = Partitions(self._quarantine, partitions)
        self.versions = {
            kind.name: Versions(kind, found.get(kind.name, ()), self._changes) for kind in ONE_BY_ONE
        }
        self._handlers = self._made_handlers()

    def apply(self, step: Step, note: Note = _no_notes) -> None:
        """Applies records in log order, those of a snapshot in its own.

        `note` takes the records about what was never set, and returns events for the step.
        """
        is_lost = PARTITIONS.name in self.lost
        of_partitions = [] if is_lost else self.partitions.apply(step, self.versions["topics"])
        for _, handler, row, at in sorted(self._one_by_one(step), key=itemgetter(0)):
            handler(row, at)
        notes = note(self._quarantine.take())
        self._done.append(DoneByStep(of_partitions, list(self._changes), self._cluster_id, notes))
        self._changes.clear()

    def end_at_gap(self, offset: int, time_us: int | None, why: Sequence[events.Event] = ()) -> None:
        """Ends the known range at this offset (exclusive); the next snapshot begins everything again.

        Without other events, it is a gap of the log.
        """
        ended = self.partitions.end_at_gap(offset, time_us, self._cluster_id)
        for versions in self.versions.values():
            versions.end_at_gap(offset, time_us)
        self._handlers = self._made_handlers()
        found = why or [events.gap(offset, time_us)]
        self._done.append(Marked(ended, encode_events(found, self._cluster_id)))

    def lose(self, tables: Collection[str], offset: int, time_us: int | None) -> None:
        """Ends the versions of some tables at this offset (exclusive); the next snapshot begins others."""
        ended = SCHEMAS[PARTITIONS.name].empty_table()
        for name in tables:
            if name == PARTITIONS.name:
                ended = self.partitions.end_at_gap(offset, time_us, self._cluster_id)
            else:
                self.versions[name].end_at_gap(offset, time_us)
        self.lost.update(tables)
        self._handlers = self._made_handlers()
        self._done.append(Marked(ended, EVENTS_SCHEMA.empty_table()))

    def add_events(self, found: Sequence[events.Event]) -> None:
        """Adds events behind all others."""
        nothing = SCHEMAS[PARTITIONS.name].empty_table()
        self._done.append(Marked(nothing, encode_events(found, self._cluster_id)))

    def begin_with_snapshot(self, offset: int, time_us: int | None, after: str) -> None:
        """Begins a snapshot, whose records follow; `after` says what it is."""
        self.lost.clear()
        self._handlers = self._made_handlers()
        begins = events.snapshot(LogPlace(offset, time_us, True), after)
        nothing = SCHEMAS[PARTITIONS.name].empty_table()
        self._done.append(Marked(nothing, encode_events([begins], self._cluster_id)))

    def take(self) -> Outcome:
        """Returns the outcome since the last call."""
        done, self._done = self._done, []
        closed = {name: versions.take_closed() for name, versions in self.versions.items()}
        return Outcome(self._cluster_id, done, closed)

    def still_open(self) -> dict[str, list[Version]]:
        """Returns open versions by kind, in the order in which they began; without partitions."""
        return {name: versions.still_open() for name, versions in self.versions.items()}

    def _one_by_one(self, step: Step) -> Iterator[Placed]:
        for table, handler in self._handlers.items():
            rows = step.tables.get(table)
            if rows is None:
                continue
            places, offsets, batches = (
                rows.column(name).to_pylist() for name in ("place", "offset", "batch_offset")
            )
            times = rows.column("time").cast(pa.int64()).to_pylist()
            at = map(LogPlace, offsets, times, repeat(step.in_snapshot), batches)
            values = (_values(rows.column(name)) for name in COLUMNS[table])
            yield from zip(places, repeat(handler), zip(*values, strict=True), at, strict=False)

    def _made_handlers(self) -> dict[str, Handler]:
        """Returns handlers by typed table, without those of lost ones. Other types are set and removed as
        their row says.
        """
        of = self.versions
        topics, brokers, quorum = (
            Topics(of["topics"], of["configs"], self._quarantine),
            Brokers(of["brokers"], self._quarantine),
            Quorum(of["quorum"]),
        )
        by_hand: dict[str, Handler] = {
            "topic_record": topics.topic,
            "remove_topic_record": topics.remove_topic,
            "config_record": topics.config,
            "clear_elr_record": topics.clear_elr,
            "register_broker_record": brokers.register,
            "broker_registration_change_record": brokers.change,
            "fence_broker_record": brokers.fence,
            "unfence_broker_record": brokers.unfence,
            "unregister_broker_record": brokers.unregister,
            "leader_change_message": quorum.leader,
            "voters_record": quorum.voters,
            "kraft_version_record": quorum.kraft_version,
        }
        rows = {column_name(row.message): row for row in RECORD_TYPES if row.table in of}
        found = {name: handler_of(row, of[row.table], self._quarantine) for name, row in rows.items()}
        found |= by_hand
        table_of = {column_name(row.message): row.table for row in RECORD_TYPES}
        return {name: one for name, one in found.items() if table_of.get(name, QUORUM.name) not in self.lost}


def _values(column: pa.ChunkedArray) -> Iterable[Any]:
    """Returns the values: most columns of changes are null, and a list of nulls takes as long as one of
    values.
    """
    if column.null_count == len(column):
        return repeat(None, len(column))
    values: list[Any] = column.to_pylist()
    return values
