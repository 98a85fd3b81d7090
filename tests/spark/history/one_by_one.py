"""Topics, partitions and configurations, computed one record after the other by Kafka's rules (KIP-631).

The plainest way to compute versions and events: what `kraftctl_spark.history.partitions` has to agree with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

import pyarrow as pa

from kraftctl_protocol.config_resource import NAMES as CONFIG_RESOURCES
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_spark.history.partitions.steps import Step
from kraftctl_spark.history.record_columns import COLUMNS
from kraftctl_spark.history.schema import encode_events, encode_versions
from kraftctl_spark.history.versions import events
from kraftctl_spark.history.versions.events import Event
from kraftctl_spark.history.versions.kinds import CONFIGS, PARTITIONS, TOPICS
from kraftctl_spark.history.versions.versions import Change, Key, LogPlace, Values, Versions

MIGRATING = "AAAAAAAAAAAAAAAAAAAAAA"
_P = PARTITIONS.values.index


class OneByOne:
    """All versions since the beginning, and all events."""

    def __init__(self, cluster_id: str) -> None:
        self._cluster_id = cluster_id
        self._changes: list[Change] = []
        self._ids: dict[str, str] = {}
        self.versions = {
            kind.name: Versions(kind, (), self._changes) for kind in (TOPICS, PARTITIONS, CONFIGS)
        }
        self._topics, self._partitions, self._configs = self.versions.values()
        self._handlers = {
            "topic_record": self._topic,
            "remove_topic_record": self._remove_topic,
            "partition_record": self._partition,
            "partition_change_record": self._change,
            "clear_elr_record": self._clear_elr,
            "config_record": self._config,
        }

    def apply(self, step: Step) -> None:
        placed: list[tuple[int, str, tuple[Any, ...], LogPlace]] = []
        for table, rows in step.tables.items():
            names = ("place", "offset", "time", "batch_offset")
            place, offset, time, batch = (rows.column(name) for name in names)
            times = time.cast(pa.int64()).to_pylist()
            at = map(LogPlace, offset.to_pylist(), times, repeat(step.in_snapshot), batch.to_pylist())
            values = zip(*(rows.column(name).to_pylist() for name in COLUMNS[table]), strict=True)
            placed += zip(place.to_pylist(), repeat(table), values, at, strict=False)
        for _, table, row, moment in sorted(placed, key=lambda one: one[0]):
            self._handlers[table](row, moment)

    def end_at_gap(self, offset: int, time_us: int | None) -> None:
        for versions in self.versions.values():
            versions.end_at_gap(offset, time_us)
        self._ids = {}

    def ended(self, kind: str) -> pa.Table:
        versions = self.versions[kind]
        return encode_versions(versions.kind, versions.take_closed(), self._cluster_id)

    def still_open(self, kind: str) -> pa.Table:
        versions = self.versions[kind]
        return encode_versions(versions.kind, versions.still_open(), self._cluster_id)

    def events(self) -> pa.Table:
        found: list[Event] = []
        for change in self._changes:
            if change.table != PARTITIONS.name:
                found += events.events_of([change])
            elif not change.at.in_snapshot:
                found += _events_of_partition(change)
        self._changes.clear()
        return encode_events(found, self._cluster_id)

    def _topic(self, row: tuple[Any, ...], at: LogPlace) -> None:
        topic_id, name = row
        self._ids[name] = topic_id
        self._topics.set((topic_id,), (name,), at)

    def _remove_topic(self, row: tuple[Any, ...], at: LogPlace) -> None:
        (topic_id,) = row
        topic = self._topics.values((topic_id,))
        assert topic is not None, f"RemoveTopicRecord of unknown topic {topic_id} at offset {at.offset}"
        for key in sorted(key for key in self._partitions.open if key[0] == topic_id):
            self._partitions.remove(key, at)
        of_topic = (CONFIG_RESOURCES[TOPIC], topic[0])
        for key in sorted(key for key in self._configs.open if key[:2] == of_topic):
            self._configs.remove(key, at)
        self._topics.remove((topic_id,), at)
        del self._ids[topic[0]]

    def _partition(self, row: tuple[Any, ...], at: LogPlace) -> None:
        topic_id, partition_id, leader, leader_epoch, partition_epoch, recovery, *lists = row
        replicas, isr, adding, removing, elr, last_known_elr, directories = (one or [] for one in lists)
        topic = self._topics.values((topic_id,))
        assert topic is not None, f"PartitionRecord of unknown topic {topic_id} at offset {at.offset}"
        numbers = (leader, leader_epoch, partition_epoch, recovery or 0)
        found = (replicas, isr, adding, removing, elr, last_known_elr, _directories(directories, replicas))
        self._partitions.set((topic_id, partition_id), (topic[0], *numbers, *found), at)

    def _change(self, row: tuple[Any, ...], at: LogPlace) -> None:
        """A null field keeps its value. Setting the leader, even to the same one, raises the leader epoch."""
        key, (leader, recovery, *lists) = row[:2], row[2:]
        old = self._partitions.values(key)
        assert old is not None, f"PartitionChangeRecord of unknown partition {key} at offset {at.offset}"
        values = list(old)
        if leader != -2:
            values[_P("leader")] = leader
            values[_P("leader_epoch")] += 1
        values[_P("partition_epoch")] += 1
        if recovery not in (None, -1):
            values[_P("leader_recovery_state")] = recovery
        first = _P("replicas")
        for place, one in enumerate(lists, first):
            values[place] = values[place] if one is None else one
        if lists[0] is not None or lists[-1] is not None:
            values[-1] = _directories(values[-1], values[first])
        self._partitions.set(key, tuple(values), at)

    def _clear_elr(self, row: tuple[Any, ...], at: LogPlace) -> None:
        """Of one topic, or of all for an empty name. Raises the partition epoch of what it clears."""
        (name,) = row
        for key, version in sorted(self._partitions.open.items()):
            values = list(version.values)
            if name in ("", values[0]) and (values[_P("elr")] or values[_P("last_known_elr")]):
                values[_P("partition_epoch")] += 1
                values[_P("elr")] = values[_P("last_known_elr")] = []
                self._partitions.set(key, tuple(values), at)

    def _config(self, row: tuple[Any, ...], at: LogPlace) -> None:
        number, resource_name, name, value = row
        key = (CONFIG_RESOURCES.get(number, str(number)), resource_name, name)
        if value is None:
            self._configs.remove(key, at)
        else:
            self._configs.set(key, (self._ids.get(resource_name) if number == TOPIC else None, value), at)


def _directories(directories: list[str], replicas: list[int]) -> list[str]:
    """As Kafka has them: one of each replica, also where no directory is known."""
    if all(one == MIGRATING for one in directories):
        return [MIGRATING] * len(replicas)
    return directories


def _events_of_partition(change: Change) -> Iterable[Event]:
    _, key, old, new, at = change
    subject = f"{(new or old or ())[0]}-{key[1]}"
    for kind, before, after in _happened(key, old, new):
        texts = (_text(before), _text(after))
        place = (at.offset, at.time_us, at.batch_offset)
        yield Event(*place, kind, subject, *texts, PARTITIONS.name, key[0], key[1])


def _text(value: Any) -> str | None:
    if isinstance(value, list) and value and isinstance(value[0], str):
        return json.dumps(value)
    return None if value is None else str(value)


def _happened(key: Key, old: Values | None, new: Values | None) -> Iterator[tuple[str, Any, Any]]:
    replicas, isr = _P("replicas"), _P("isr")
    if old is None or new is None:
        yield (
            ("partition created", None, new[replicas])
            if new is not None
            else ("partition deleted", old and old[replicas], None)
        )
        return
    yield from _led(old, new)
    if old[isr] != new[isr]:
        left, joined = set(old[isr]) - set(new[isr]), set(new[isr]) - set(old[isr])
        what = (
            "shrank and grew" if left and joined else "shrank" if left else "grew" if joined else "reordered"
        )
        yield f"ISR {what}", old[isr], new[isr]
    if old[replicas] != new[replicas]:
        yield "replicas changed", old[replicas], new[replicas]
    elif old[-1] != new[-1]:
        yield "directories changed", old[-1], new[-1]
    moved, moves = (bool(one[_P("adding_replicas")] or one[_P("removing_replicas")]) for one in (old, new))
    if moved != moves:
        yield f"reassignment {'begun' if moves else 'ended'}", old[replicas], new[replicas]
    for name, kind in (("elr", "ELR changed"), ("last_known_elr", "last known ELR changed")):
        if old[_P(name)] != new[_P(name)]:
            yield kind, old[_P(name)], new[_P(name)]


def _led(old: Values, new: Values) -> Iterator[tuple[str, Any, Any]]:
    leader, epoch, recovery = (_P(name) for name in ("leader", "leader_epoch", "leader_recovery_state"))
    if old[leader] == new[leader] and old[recovery] == new[recovery]:
        if old[epoch] != new[epoch]:
            yield "leader epoch raised", old[epoch], new[epoch]
        return
    if old[leader] != new[leader]:
        electable = new[leader] in old[_P("isr")] or new[leader] in old[_P("elr")]
        unclean = new[recovery] == 1 and (old[recovery] == 0 or not electable)
        elected = "unclean election" if unclean else "leader elected"
        yield "leader lost" if new[leader] < 0 else elected, old[leader], new[leader]
    if new[recovery] == 0 and old[recovery] == 1:
        yield "recovered", None, None
