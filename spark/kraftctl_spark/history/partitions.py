"""Topics and partitions, by Kafka's rules for PartitionChangeRecord (KIP-631, KIP-966)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from kraftctl_protocol.config_resource import NAMES as CONFIG_RESOURCES
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_spark.history.kinds import PARTITIONS
from kraftctl_spark.history.versions import Key, Moment, Versions

MIGRATING = "AAAAAAAAAAAAAAAAAAAAAA"
"""Directory id of a replica whose directory the controller does not know yet (KIP-858)."""

NO_LEADER_CHANGE = -2
NO_RECOVERY_CHANGE = -1
_ELR, _LAST_KNOWN_ELR = (PARTITIONS.values.index(name) for name in ("elr", "last_known_elr"))
_PARTITION_EPOCH = PARTITIONS.values.index("partition_epoch")


class Topics:
    """Topics, their partitions and their configurations, which end together."""

    def __init__(self, topics: Versions, partitions: Versions, configs: Versions) -> None:
        self._topics = topics
        self._partitions = partitions
        self._configs = configs
        self._ids = {values[0]: key[0] for key, values in _current(topics)}
        self._partitions_of: dict[str, set[int]] = defaultdict(set)
        self._configs_of: dict[str, set[str]] = defaultdict(set)
        self._with_elr: set[Key] = set()
        """A ClearElrRecord costs what it clears, not all partitions."""
        for key, values in _current(partitions):
            self._partitions_of[key[0]].add(key[1])
            self._note_elr(key, values)
        for (resource_type, resource_name, name), _ in _current(configs):
            if resource_type == CONFIG_RESOURCES[TOPIC]:
                self._configs_of[resource_name].add(name)

    def topic(self, row: tuple[Any, ...], at: Moment) -> None:
        name, topic_id = row
        self._ids[name] = topic_id
        self._topics.set((topic_id,), (name,), at)

    def remove_topic(self, row: tuple[Any, ...], at: Moment) -> None:
        """Ends its partitions and configurations, too."""
        (topic_id,) = row
        topic = self._topics.values((topic_id,))
        assert topic is not None, f"RemoveTopicRecord of unknown topic {topic_id} at offset {at.offset}"
        name = topic[0]
        for partition_id in sorted(self._partitions_of.pop(topic_id, ())):
            self._partitions.remove((topic_id, partition_id), at)
            self._with_elr.discard((topic_id, partition_id))
        for config in sorted(self._configs_of.pop(name, ())):
            self._configs.remove((CONFIG_RESOURCES[TOPIC], name, config), at)
        self._topics.remove((topic_id,), at)
        del self._ids[name]

    def partition(self, row: tuple[Any, ...], at: Moment) -> None:
        topic_id, partition_id, leader, leader_epoch, partition_epoch, recovery, *lists = row
        replicas, isr, adding, removing, elr, last_known_elr, directories = (one or [] for one in lists)
        topic = self._topics.values((topic_id,))
        assert topic is not None, f"PartitionRecord of unknown topic {topic_id} at offset {at.offset}"
        key = (topic_id, partition_id)
        values = (
            topic[0],
            leader,
            leader_epoch,
            partition_epoch,
            recovery or 0,
            replicas,
            isr,
            adding,
            removing,
            elr,
            last_known_elr,
            _directories(directories, replicas),
        )
        self._partitions_of[topic_id].add(partition_id)
        self._partitions.set(key, values, at)
        self._note_elr(key, values)

    def change(self, row: tuple[Any, ...], at: Moment) -> None:
        """A null field keeps its value. Setting the leader, even to the same one, raises the leader epoch."""
        key, (leader, recovery, replicas, isr, adding, removing, elr, last_known, directories) = (
            row[:2],
            row[2:],
        )
        old = self._partitions.values(key)
        assert old is not None, f"PartitionChangeRecord of unknown partition {key} at offset {at.offset}"
        if replicas is not None or directories is not None:
            replicas = old[5] if replicas is None else replicas
            directories = _directories(old[11] if directories is None else directories, replicas)
        leads_anew = leader != NO_LEADER_CHANGE
        values = (
            old[0],
            leader if leads_anew else old[1],
            old[2] + 1 if leads_anew else old[2],
            old[3] + 1,
            old[4] if recovery is None or recovery == NO_RECOVERY_CHANGE else recovery,
            old[5] if replicas is None else replicas,
            old[6] if isr is None else isr,
            old[7] if adding is None else adding,
            old[8] if removing is None else removing,
            old[9] if elr is None else elr,
            old[10] if last_known is None else last_known,
            old[11] if directories is None else directories,
        )
        self._partitions.set(key, values, at)
        self._note_elr(key, values)

    def clear_elr(self, row: tuple[Any, ...], at: Moment) -> None:
        """Of one topic, or of all for an empty name. Raises the partition epoch of what it clears."""
        (name,) = row
        for key in sorted(self._with_elr):
            old = self._partitions.values(key)
            assert old is not None
            if name in ("", old[0]):
                values = list(old)
                values[_PARTITION_EPOCH] += 1
                values[_ELR] = values[_LAST_KNOWN_ELR] = []
                self._partitions.set(key, tuple(values), at)
                self._with_elr.discard(key)

    def config(self, row: tuple[Any, ...], at: Moment) -> None:
        """A null value removes the configuration."""
        number, resource_name, name, value = row
        resource_type = CONFIG_RESOURCES.get(number, str(number))
        key = (resource_type, resource_name, name)
        if value is None:
            self._configs.remove(key, at)
            return
        topic_id = None
        if number == TOPIC:
            topic_id = self._ids.get(resource_name)
            self._configs_of[resource_name].add(name)
        self._configs.set(key, (topic_id, value), at)

    def _note_elr(self, key: Key, values: tuple[Any, ...]) -> None:
        if values[_ELR] or values[_LAST_KNOWN_ELR]:
            self._with_elr.add(key)
        elif self._with_elr:
            self._with_elr.discard(key)


def _current(versions: Versions) -> list[tuple[Key, tuple[Any, ...]]]:
    return [(key, version.values) for key, version in versions.open.items()]


def _directories(directories: list[str], replicas: list[int]) -> list[str]:
    """As Kafka has them: one of each replica, also where no directory is known."""
    if all(one == MIGRATING for one in directories):
        return [MIGRATING] * len(replicas)
    return directories
