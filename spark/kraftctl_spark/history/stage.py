"""The stage of the history: versions so far and committed records, in log order, give more versions.

Its whole state is the versions that are still open: a stage made from those continues as if nothing had
happened. The cost of a record does not depend on how long the history is. Most records are about partitions:
those are computed as columns (docs/adr/0014), all others one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history import events
from kraftctl_spark.history.brokers import Brokers
from kraftctl_spark.history.keyed import Keyed
from kraftctl_spark.history.kinds import KINDS, PARTITIONS
from kraftctl_spark.history.open_partitions import OpenPartitions
from kraftctl_spark.history.partitions import Partitions
from kraftctl_spark.history.record_columns import COLUMNS
from kraftctl_spark.history.schema import EVENTS_SCHEMA, encode_events
from kraftctl_spark.history.steps import Step
from kraftctl_spark.history.topics import Topics
from kraftctl_spark.history.versions import Change, Moment, Version, Versions

Handler = Callable[[tuple[Any, ...], Moment], None]
Placed = tuple[int, Handler, tuple[Any, ...], Moment]

ONE_BY_ONE = tuple(kind for kind in KINDS if kind is not PARTITIONS)


class HistoryStage:
    """Versions of all kinds, of one cluster."""

    def __init__(
        self,
        cluster_id: str,
        still_open: Mapping[str, Iterable[Version]] | None = None,
        partitions: OpenPartitions | None = None,
    ) -> None:
        found = still_open or {}
        self._cluster_id = cluster_id
        self._changes: list[Change] = []
        """Of all kinds but partitions, in their order."""
        self._events: list[pa.Table] = []
        self.partitions = Partitions(partitions)
        self.versions = {
            kind.name: Versions(kind, found.get(kind.name, ()), self._changes) for kind in ONE_BY_ONE
        }
        self._handlers = self._made_handlers()

    def apply(self, step: Step) -> None:
        """In log order, those of a snapshot in its own."""
        self.partitions.apply(step, self.versions["topics"], self._cluster_id)
        for _, handler, row, at in sorted(self._one_by_one(step), key=itemgetter(0)):
            handler(row, at)
        self._events.append(self._events_of_step())

    def end_at_gap(self, offset: int, time_us: int | None) -> None:
        """Known up to this offset (exclusive); a snapshot follows that begins everything again."""
        self.partitions.end_at_gap(offset, time_us, self._cluster_id)
        for versions in self.versions.values():
            versions.end_at_gap(offset, time_us)
        self._handlers = self._made_handlers()
        self._events.append(encode_events([events.gap(offset, time_us)], self._cluster_id))

    def begin_with_snapshot(self, offset: int, time_us: int | None, after: str) -> None:
        """Its records follow; `after` says what it is."""
        begins = events.snapshot(Moment(offset, time_us, True), after)
        self._events.append(encode_events([begins], self._cluster_id))

    def take_closed(self) -> dict[str, list[Version]]:
        """By kind, each in the order in which they ended; without partitions."""
        return {name: versions.take_closed() for name, versions in self.versions.items()}

    def take_events(self) -> pa.Table:
        """In their order; each is returned once."""
        found = pa.concat_tables([EVENTS_SCHEMA.empty_table(), *self._events])
        self._events.clear()
        return found

    def still_open(self) -> dict[str, list[Version]]:
        """By kind, each in the order in which they began; without partitions."""
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
            at = map(Moment, offsets, times, repeat(step.in_snapshot), batches)
            values = (_values(rows.column(name)) for name in COLUMNS[table])
            yield from zip(places, repeat(handler), zip(*values, strict=True), at, strict=False)

    def _events_of_step(self) -> pa.Table:
        """Of a topic that is removed, first its partitions are deleted."""
        of_partitions = self.partitions.take_events()
        others = encode_events(list(events.events_of(self._changes)), self._cluster_id)
        self._changes.clear()
        together = pa.concat_tables([of_partitions, others])
        if not (of_partitions.num_rows and others.num_rows):
            return together
        return together.take(pc.array_sort_indices(together.column("offset").combine_chunks()))

    def _made_handlers(self) -> dict[str, Handler]:
        of = self.versions
        topics = Topics(of["topics"], of["configs"])
        brokers, keyed = Brokers(of["brokers"]), Keyed(of)
        return {
            "topic_record": topics.topic,
            "remove_topic_record": topics.remove_topic,
            "config_record": topics.config,
            "register_broker_record": brokers.register,
            "broker_registration_change_record": brokers.change,
            "fence_broker_record": brokers.fence,
            "unfence_broker_record": brokers.unfence,
            "unregister_broker_record": brokers.unregister,
            "register_controller_record": keyed.controller,
            "feature_level_record": keyed.feature,
            "client_quota_record": keyed.quota,
            "access_control_entry_record": keyed.acl,
            "remove_access_control_entry_record": keyed.remove_acl,
            "user_scram_credential_record": keyed.scram_credential,
            "remove_user_scram_credential_record": keyed.remove_scram_credential,
            "delegation_token_record": keyed.token,
            "remove_delegation_token_record": keyed.remove_token,
            "producer_ids_record": keyed.producer_ids,
            "leader_change_message": keyed.leader,
            "voters_record": keyed.voters,
            "kraft_version_record": keyed.kraft_version,
        }


def _values(column: pa.ChunkedArray) -> Iterable[Any]:
    """Most columns of changes are null, and making a list of nulls takes as long as of values."""
    if column.null_count == len(column):
        return repeat(None, len(column))
    values: list[Any] = column.to_pylist()
    return values
