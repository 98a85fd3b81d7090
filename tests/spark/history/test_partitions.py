"""Partitions computed as columns, against the same records one by one: any log, any steps, any reloads."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kraftctl_spark.history import open_files
from kraftctl_spark.history.partitions import open_partitions, partition_columns
from kraftctl_spark.history.partitions.open_partitions import OpenPartitions
from kraftctl_spark.history.partitions.steps import Step, schema_of
from kraftctl_spark.history.record_columns import COLUMNS
from kraftctl_spark.history.schema import EVENTS, decode_open, encode_versions
from kraftctl_spark.history.stage import HistoryStage
from kraftctl_spark.history.versions.kinds import CONFIGS, PARTITIONS, TOPICS
from tests.spark.history.one_by_one import MIGRATING, OneByOne

CLUSTER = "c0ffeec0ffeec0ffeec0ff"
BROKERS = 5
Record = tuple[str, dict[str, Any]]
"""A table, and its columns that are not null."""


class RandomRecords:
    """Draws records, each possible after those before it; more often than in a real log, odd ones."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names: dict[str, str] = {}
        self.partitions: dict[str, list[int]] = {}
        self.last: tuple[str, int, Record] | None = None
        """The last PartitionRecord, with its topic and its partition."""

    def record(self) -> Record:
        if self.rng.random() < 0.1 and self.last is not None and self.last[0] in self.names:
            return self._again(*self.last)
        draws = [self._create, self._set, self._config, *[self._change] * 6]
        if self.names and self.rng.random() < 0.15:
            return self.rng.choice([self._remove, self._clear])()
        return self.rng.choice(draws)()

    def _again(self, topic_id: str, partition_id: int, record: Record) -> Record:
        if partition_id not in self.partitions[topic_id]:
            self.partitions[topic_id].append(partition_id)
        return record

    def _create(self) -> Record:
        topic_id = self.rng.choice(["-1", "_1", "a", "a1", "Z9", "9"])  # Used again, unlike Kafka's.
        name = f"t{self.rng.randrange(6)}"
        if len(self.names) > 4 or topic_id in self.names or name in self.names.values():
            return self._change()
        self.names[topic_id], self.partitions[topic_id] = name, []
        return "topic_record", {"name": name, "topic_id": topic_id}

    def _topic(self) -> str | None:
        return self.rng.choice(list(self.names)) if self.names else None

    def _set(self) -> Record:
        topic_id = self._topic()
        if topic_id is None:
            return self._create()
        known = self.partitions[topic_id]
        partition_id = self.rng.choice([*known, self.rng.choice([0, 1, 2, 10, 11])])
        if partition_id not in known:
            known.append(partition_id)
        replicas = self._brokers(1)
        values = {
            "topic_id": topic_id,
            "partition_id": partition_id,
            "leader": self.rng.choice([*replicas, -1]),
            "leader_epoch": self.rng.randrange(2),
            "partition_epoch": self.rng.randrange(2),
            "leader_recovery_state": self.rng.choice([None, 0, 1]),
            "replicas": replicas,
            "isr": self._brokers(0),
            "directories": self.rng.choice([None, [], self._directories(len(replicas))]),
            "eligible_leader_replicas": self.rng.choice([None, [], self._brokers(0)]),
        }
        self.last = topic_id, partition_id, ("partition_record", values)
        return self.last[-1]

    def _change(self) -> Record:
        topics = [topic for topic, ids in self.partitions.items() if ids]
        if not topics:
            return self._set()
        topic_id = self.rng.choice(topics)
        fields: dict[str, Any] = {
            "isr": lambda: self._brokers(0),
            "replicas": lambda: self._brokers(0),
            "adding_replicas": lambda: self._brokers(0)[:1],
            "removing_replicas": lambda: self._brokers(0)[:1],
            "eligible_leader_replicas": lambda: self._brokers(0),
            "last_known_elr": lambda: self._brokers(0)[:1],
            "directories": lambda: self._directories(self.rng.randrange(3)),
            "leader_recovery_state": lambda: self.rng.choice([-1, 0, 1]),
        }
        drawn = {name: draw() for name, draw in fields.items() if self.rng.random() < 0.25}
        leader = self.rng.choice([-2, -2, -1, *range(BROKERS)])
        key = {"topic_id": topic_id, "partition_id": self.rng.choice(self.partitions[topic_id])}
        return "partition_change_record", {**key, "leader": leader, **drawn}

    def _remove(self) -> Record:
        topic_id = self.rng.choice(list(self.names))
        del self.names[topic_id], self.partitions[topic_id]
        return "remove_topic_record", {"topic_id": topic_id}

    def _clear(self) -> Record:
        return "clear_elr_record", {"topic_name": self.rng.choice(["", "unknown", *self.names.values()])}

    def _config(self) -> Record:
        value = self.rng.choice([None, "1", "2"])
        name = f"t{self.rng.randrange(6)}"
        return "config_record", {"resource_type": 2, "resource_name": name, "name": "x", "value": value}

    def _brokers(self, least: int) -> list[int]:
        return self.rng.sample(range(BROKERS), self.rng.randint(least, 3))

    def _directories(self, count: int) -> list[str]:
        known = [self.rng.choice(["d1", "d2", MIGRATING]) for _ in range(count)]
        return [MIGRATING] * count if self.rng.random() < 0.5 else known


def step_of(records: list[Record], offset: int, snapshot: bool = False) -> Step:
    """At consecutive offsets, or in a snapshot that ends at this one."""
    tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for number, (table, values) in enumerate(records):
        at = offset if snapshot else offset + number
        placed = {"place": number if snapshot else at, "offset": at, "time": 10**15 + at}
        batch = None if snapshot else at - at % 3
        tables[table].append({**dict.fromkeys(COLUMNS[table]), **values, **placed, "batch_offset": batch})
    return Step(
        {name: pa.Table.from_pylist(rows, schema_of(name)) for name, rows in tables.items()}, snapshot
    )


class Both:
    """The stage, and what it has to agree with."""

    def __init__(self) -> None:
        self.stage = HistoryStage(CLUSTER)
        self.truth = OneByOne(CLUSTER)

    def apply(self, step: Step) -> None:
        self.stage.apply(step)
        self.truth.apply(step)
        self.compare()

    def end_at_gap(self, offset: int) -> None:
        self.stage.end_at_gap(offset, None)
        self.truth.end_at_gap(offset, None)
        outcome = self.stage.take()
        self.truth.events()
        for kind in (PARTITIONS, TOPICS, CONFIGS):
            same(outcome.rows()[kind.name], self.truth.ended(kind.name), kind.name)

    def compare(self) -> None:
        rows = self.stage.take().rows()
        same(rows[EVENTS], self.truth.events(), EVENTS)
        for kind in (PARTITIONS, TOPICS, CONFIGS):
            same(rows[kind.name], self.truth.ended(kind.name), kind.name)

    def commit(self, everything: bool) -> set[str]:
        """Files of open versions have the rows in the same order, however many files there are."""
        replaced, parts = self.stage.partitions.open.rewrite(CLUSTER, everything)
        self.stage.partitions.open.place(f"file-{id(part)}" for part in parts)
        if everything:
            rows = pa.concat_tables([*parts, self.truth.still_open(PARTITIONS.name).slice(0, 0)])
            same(rows, self.truth.still_open(PARTITIONS.name), "open")
        return replaced

    def reload(self) -> None:
        """A new stage from what the old one has open."""
        _, parts = self.stage.partitions.open.rewrite(CLUSTER, everything=True)
        partitions = OpenPartitions()
        partitions.load((f"file-{number}", part) for number, part in enumerate(parts))
        found = {}
        for kind in (TOPICS, CONFIGS):
            rows = encode_versions(kind, self.stage.still_open()[kind.name], CLUSTER)
            found[kind.name] = decode_open(kind, rows)
        self.stage = HistoryStage(CLUSTER, found, partitions)


def same(found: pa.Table, wanted: pa.Table, what: str) -> None:
    if not found.equals(wanted):
        assert found.to_pylist() == wanted.to_pylist(), what
        assert found.schema.equals(wanted.schema), what


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept for speed alone is forgotten all the time."""
    monkeypatch.setattr(open_files, "ROWS_MAX", 4)
    monkeypatch.setattr(open_partitions, "SPARE_ROWS", 3)
    monkeypatch.setattr(partition_columns, "SPARE_NUMBERS", 0)


@settings(max_examples=15, deadline=None, phases=[Phase.generate])  # A seed cannot be made smaller.
@given(st.integers(0, 2**32), st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_as_columns_it_is_what_it_is_one_by_one(seed: int, sizes: list[int]) -> None:
    rng = random.Random(seed)
    both, log, offset = Both(), RandomRecords(rng), 0
    for size in sizes:
        both.apply(step_of([log.record() for _ in range(size)], offset))
        offset += size
        what = rng.random()
        if what < 0.2:
            both.reload()
        elif what < 0.6:
            both.commit(everything=what < 0.4)
        elif what < 0.7:
            both.end_at_gap(offset)
            log.names, log.partitions = {}, {}
            records = [log.record() for _ in range(rng.randrange(20))]
            both.apply(step_of(records, offset + 5, snapshot=True))
            offset += 6
    both.commit(everything=True)
