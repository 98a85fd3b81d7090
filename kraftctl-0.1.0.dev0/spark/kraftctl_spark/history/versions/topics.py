"""Topics and their configurations, which end together. `partitions` has their partitions."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from kraftctl_protocol.config_resource import NAMES as CONFIG_RESOURCES
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_spark.history.versions.quarantine import Quarantine, Quarantined
from kraftctl_spark.history.versions.versions import Key, LogPlace, Versions
from kraftctl_spark.rows.redaction import is_redacted


class Topics:
    """The topics. Each method is for one record type."""

    def __init__(self, topics: Versions, configs: Versions, quarantine: Quarantine) -> None:
        self._topics = topics
        self._quarantine = quarantine
        self._configs = configs
        self._ids = {values[0]: key[0] for key, values in _current(topics)}
        self._configs_of: dict[str, set[str]] = defaultdict(set)
        for (resource_type, resource_name, name), _ in _current(configs):
            if resource_type == CONFIG_RESOURCES[TOPIC]:
                self._configs_of[resource_name].add(name)

    def topic(self, row: tuple[Any, ...], at: LogPlace) -> None:
        topic_id, name = row
        self._ids[name] = topic_id
        self._topics.set((topic_id,), (name,), at)

    def remove_topic(self, row: tuple[Any, ...], at: LogPlace) -> None:
        """Removes a topic with its configurations."""
        (topic_id,) = row
        topic = self._topics.values((topic_id,))
        if topic is None:
            self._quarantine.add(Quarantined("topics", f"topic {topic_id}", at, topic_id))
            return
        name = topic[0]
        for config in sorted(self._configs_of.pop(name, ())):
            self._configs.remove((CONFIG_RESOURCES[TOPIC], name, config), at)
        self._topics.remove((topic_id,), at)
        if self._ids.get(name) == topic_id:
            del self._ids[name]

    def clear_elr(self, row: tuple[Any, ...], at: LogPlace) -> None:
        """Puts aside a record about an unknown topic; `Partitions` applies all others."""
        (name,) = row
        if name and name not in self._ids:
            self._quarantine.add(Quarantined("partitions", f"partitions of topic {name}", at))

    def config(self, row: tuple[Any, ...], at: LogPlace) -> None:
        """Sets a configuration, by the name of what has it; a null value removes it."""
        number, resource_name, name, value = row
        topic_id = self._ids.get(resource_name) if number == TOPIC else None
        resource_type = CONFIG_RESOURCES.get(number, str(number))
        key = (resource_type, resource_name, name)
        if value is None:
            self._configs.remove(key, at)
            return
        if number == TOPIC:
            self._configs_of[resource_name].add(name)
        self._configs.set(key, (topic_id, value), at, hides=is_redacted(value))


def _current(versions: Versions) -> list[tuple[Key, tuple[Any, ...]]]:
    return [(key, version.values) for key, version in versions.open.items()]
