"""ConfigurationsImage: dynamic configs of topics, brokers, client metrics and groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from kraftctl.image.image_part import ImagePart
from kraftctl.image.topics_image import TopicsImage
from kraftctl.image.undo_journal import MISSING, JournalView, UndoJournal
from kraftctl.metadata.config_definitions.min_insync_replicas import MIN_INSYNC_REPLICAS, own_min_isr
from kraftctl_protocol.config_resource import BROKER, TOPIC
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record

Resource = tuple[int, str]
"""A resource is its type and its name."""

_EMPTY: Final[dict[str, str]] = {}


class ConfigurationsImage(ImagePart):
    """`resources` maps a resource to its configs; a resource without configs is absent.

    `broker_changes` counts what was changed and undone in configs of brokers: what is derived from those
    holds as long as it stays.

    The inner dicts are changed in place, and each config is journaled by itself: a broker may have ten
    thousand, and a copy of them for each record would take seconds.
    """

    def __init__(self, journal: UndoJournal, topics: TopicsImage) -> None:
        self._journal = journal
        self._topics = topics
        self.resources: dict[Resource, dict[str, str]] = {}
        self.broker_changes = 0

    def config(self, resource_type: int, name: str) -> dict[str, str]:
        """Returns the configs of one resource; empty when it has none. Do not change it, or keep it."""
        return self.resources.get((resource_type, name), _EMPTY)

    def replay(self, record: Message, offset: int) -> None:
        """Applies a ConfigRecord; a null value removes the config."""
        assert isinstance(record, ConfigRecord)
        self._set((record.resource_type, record.resource_name), record.name, record.value)

    def replay_topic_removed(self, topic_name: str) -> None:
        """Removes the configs of a removed topic: there are no ConfigRecords for that."""
        resource = (TOPIC, topic_name)
        for name in list(self.resources.get(resource, _EMPTY)):
            self._set(resource, name, None)

    def values(self, view: JournalView, metadata_version: int, elr_enabled: bool) -> Iterator[bytes]:
        for resource in self.resources_in_view(view):
            for name, value in self.config_in_view(view, resource):
                record = ConfigRecord(
                    resource_type=resource[0], resource_name=resource[1], name=name, value=value
                )
                yield encode_metadata_record(record, 0)

    def resources_in_view(self, view: JournalView) -> Iterator[Resource]:
        """Yields the resources that have configs in the view, and some that have none there.

        The first step lists all of them.
        """
        removed = [resource for resource in view.groups(self) if resource not in self.resources]
        resources = list(self.resources)
        resources.reverse()
        while resources:  # from the end, so that the list is freed step by step
            yield resources.pop()
        yield from cast("list[Resource]", removed)

    def config_in_view(self, view: JournalView, resource: Resource) -> list[tuple[str, str]]:
        """Returns the configs of one resource as they are in the view, sorted by name."""
        configs: dict[str, object] = {**self.resources.get(resource, _EMPTY)}
        configs.update(view.groups(self).get(resource, {}))
        return [(name, value) for name, value in sorted(configs.items()) if isinstance(value, str)]

    def current(self, key: object) -> object:
        resource, name = cast("tuple[Resource, str]", key)
        return self.resources.get(resource, _EMPTY).get(name, MISSING)

    def restore(self, key: object, old: object) -> None:
        resource, name = cast("tuple[Resource, str]", key)
        self._put(resource, name, old if isinstance(old, str) else None)

    def _set(self, resource: Resource, name: str, value: str | None) -> None:
        old = self.resources.get(resource, _EMPTY).get(name)
        if old is None and value is None:
            return
        self._journal.remember(self, (resource, name), MISSING if old is None else old)
        self._put(resource, name, value)

    def _put(self, resource: Resource, name: str, value: str | None) -> None:
        if resource[0] == BROKER:
            self.broker_changes += 1
        elif name == MIN_INSYNC_REPLICAS and resource[0] == TOPIC:
            self._topics.set_min_isr(resource[1], own_min_isr(value))
        configs = self.resources.get(resource)
        if configs is None:
            configs = {}
            self.resources[resource] = configs
        if value is None:
            del configs[name]
        else:
            configs[name] = value
        if not configs:
            del self.resources[resource]
