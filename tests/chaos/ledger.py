"""What clients asked for and what was acknowledged, against what is found at the end.

An acknowledged change is there. One that failed may have been made, also later than what came after it: a
request may wait in a cut link. So both outcomes are right for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TopicPartition = tuple[str, int]


@dataclass(frozen=True)
class FoundTopic:
    """A topic as a broker or a log has it."""

    partitions: int
    configs: Mapping[str, str]


@dataclass
class TopicEntry:
    """The outcomes that are right for one topic. None among the values of a config: it is not set."""

    may_exist: bool
    must_exist: bool
    partitions_min: int
    partitions_max: int
    configs: dict[str, set[str | None]] = field(default_factory=dict)
    """Values that are right: the last acknowledged one, and those of all requests that failed."""
    failed: dict[str, set[str | None]] = field(default_factory=dict)


class TopicLedger:
    """Topics whose names are never used again. Used by one thread at a time."""

    def __init__(self) -> None:
        self.topics: dict[str, TopicEntry] = {}
        self.protected: set[str] = set()
        """Topics that are not to be changed."""
        self.acknowledged = 0
        self.failed = 0

    def created(self, name: str, partitions: int, acknowledged: bool) -> None:
        self._count(acknowledged)
        self.topics[name] = TopicEntry(True, acknowledged, partitions, partitions)

    def deleted(self, name: str, acknowledged: bool) -> None:
        self._count(acknowledged)
        entry = self.topics[name]
        entry.must_exist = False
        entry.may_exist = not acknowledged

    def partitions_added(self, name: str, count: int, acknowledged: bool) -> None:
        """`count` is the new number of all partitions."""
        self._count(acknowledged)
        entry = self.topics[name]
        entry.partitions_max = max(count, entry.partitions_max)
        if acknowledged:
            entry.partitions_min = count

    def config_set(self, name: str, key: str, value: str, acknowledged: bool) -> None:
        self._count(acknowledged)
        entry = self.topics[name]
        failed = entry.failed.setdefault(key, set())
        if acknowledged:
            entry.configs[key] = {value, *failed}
        else:
            failed.add(value)
            entry.configs.setdefault(key, {None}).add(value)

    def sure(self) -> list[str]:
        """Topics that exist for certain and may be changed, sorted."""
        there = {name for name, entry in self.topics.items() if entry.must_exist}
        return sorted(there - self.protected)

    def problems(self, found: Mapping[str, FoundTopic]) -> list[str]:
        """What is missing, and what is there although its removal was acknowledged."""
        lines = []
        for name, entry in sorted(self.topics.items()):
            topic = found.get(name)
            if topic is None:
                if entry.must_exist:
                    lines.append(f"the topic {name} is lost")
                continue
            if not entry.may_exist:
                lines.append(f"the topic {name} was deleted, and is there")
            if not entry.partitions_min <= topic.partitions <= entry.partitions_max:
                lines.append(
                    f"{name} has {topic.partitions} partitions, not"
                    f" {entry.partitions_min} to {entry.partitions_max}"
                )
            for key, right in sorted(entry.configs.items()):
                if topic.configs.get(key) not in right:
                    known = sorted(map(str, right))
                    lines.append(f"{name} has {key}={topic.configs.get(key)}, not one of {known}")
        return lines

    def _count(self, acknowledged: bool) -> None:
        if acknowledged:
            self.acknowledged += 1
        else:
            self.failed += 1


class RecordLedger:
    """Produced records that were acknowledged with acks=all, by partition and offset."""

    def __init__(self) -> None:
        self.records: dict[TopicPartition, dict[int, bytes]] = {}
        self.somewhere: dict[TopicPartition, set[bytes]] = {}
        """Values whose offset the producer does not know: the response to an earlier attempt was lost."""
        self.twice: list[str] = []
        self.acknowledged = 0

    def add(self, partition: TopicPartition, offset: int | None, value: bytes) -> None:
        self.acknowledged += 1
        if offset is None:
            self.somewhere.setdefault(partition, set()).add(value)
            return
        known = self.records.setdefault(partition, {})
        if known.setdefault(offset, value) != value:
            self.twice.append(f"{partition} gave offset {offset} to {known[offset]!r} and to {value!r}")

    def problems(self, found: Mapping[TopicPartition, Mapping[int, bytes]]) -> list[str]:
        lines = list(self.twice)
        for partition, records in sorted(self.records.items()):
            there = found.get(partition, {})
            wrong = [offset for offset in sorted(records) if there.get(offset) != records[offset]]
            if wrong:
                first = wrong[0]
                lines.append(
                    f"{len(wrong)} of {len(records)} acknowledged records of {partition} are lost,"
                    f" first offset {first}: {there.get(first)!r} instead of {records[first]!r}"
                )
        for partition, values in sorted(self.somewhere.items()):
            if missing := values - set(found.get(partition, {}).values()):
                lines.append(f"{len(missing)} acknowledged records of {partition} are lost: {min(missing)!r}")
        return lines
