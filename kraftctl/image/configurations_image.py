"""ConfigurationsImage: dynamic configs of topics, brokers, client metrics and groups."""

from __future__ import annotations

from typing import Final

from kraftctl.image.undo_journal import UndoJournal
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.generated.config_record import ConfigRecord

_EMPTY: Final[dict[str, str]] = {}


class ConfigurationsImage:
    """`resources` maps (resource type, name) to its configs; a resource without configs is absent.

    The inner dicts are replaced, never changed, so a reader may keep one.
    """

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.resources: dict[tuple[int, str], dict[str, str]] = {}

    def config(self, resource_type: int, name: str) -> dict[str, str]:
        """The dynamic configs of one resource; empty when it has none. Do not change it."""
        return self.resources.get((resource_type, name), _EMPTY)

    def replay(self, record: ConfigRecord) -> None:
        """A null value removes the config."""
        resource = (record.resource_type, record.resource_name)
        configs = dict(self.resources.get(resource, _EMPTY))
        if record.value is None:
            configs.pop(record.name, None)
        else:
            configs[record.name] = record.value
        if configs:
            self._journal.put(self.resources, resource, configs)
        else:
            self._journal.remove(self.resources, resource)

    def replay_topic_removed(self, topic_name: str) -> None:
        """A removed topic takes its configs along; no ConfigRecords say so."""
        self._journal.remove(self.resources, (TOPIC, topic_name))
