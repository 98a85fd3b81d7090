"""Texts of events without a name: those of a version as that has them, all others by their form.

An event says in words what its record had, and the record may have expired. The version that began or ended
there has the values, and from these the words are made again.
"""

from __future__ import annotations

import json
import re
from typing import Final

from kraftctl_protocol.record_types import OTHER, RECORD_TYPES, TOPIC_NAME, USER
from kraftctl_spark.forgetting.wanted_name import WantedName
from kraftctl_spark.history.schema import NOT_KNOWN
from kraftctl_spark.history.versions.events import texts_of_version
from kraftctl_spark.history.versions.kinds import BROKERS, PARTITIONS, Kind
from kraftctl_spark.history.versions.versions import GAP, Version

Texts = tuple[str, str | None, str | None]
"""The subject, and what was before and is after."""

_OF_TOPIC: Final = "partitions of topic "
_WORDS: Final = {row.table: row.words[0] + " " for row in RECORD_TYPES if row.words is not None}
_CREDENTIAL, _QUOTA = _WORDS["scram_credentials"], _WORDS["quotas"]
_PARTITION: Final = re.compile(r"(.*)(-\d+)", re.DOTALL)


class EventTexts:
    """The texts of events of the versions that it has seen."""

    def __init__(self, name: WantedName) -> None:
        self._name = name
        self._new: dict[tuple[str, int], dict[str, str | None]] = {}
        """The new texts by the old ones, where versions begin and end."""

    def add(self, kind: Kind, before: Version, after: Version) -> None:
        """Takes a version, and what it becomes: the events at both of its ends have its texts."""
        old = texts_of_version(kind.name, before.key, before.values)
        new = texts_of_version(kind.name, after.key, after.values)
        texts = {one: other for one, other in zip(old, new, strict=True) if one is not None}
        if not before.from_snapshot:
            self._new.setdefault((kind.name, before.valid_from_offset), {}).update(texts)
        if before.valid_to_offset is not None and before.ended_by != GAP:
            self._new.setdefault((kind.name, before.valid_to_offset), {}).update(texts)

    def without(self, table: str, offset: int, texts: Texts) -> Texts:
        """Returns the texts of an event without the name, as far as it is replaced."""
        subject, before, after = texts
        if table == PARTITIONS.name:
            return self._partition(subject), before, after
        if table == NOT_KNOWN:
            return self.not_known(subject), before, None if after is None else self.not_known(after)
        if table == BROKERS.name:
            return subject, self._part(before), self._part(after)
        new = self._new.get((table, offset), {})
        before, after = (text if text is None else new.get(text, text) for text in (before, after))
        return new.get(subject) or subject, before, after

    def not_known(self, subject: str) -> str:
        """Returns what is not known without the name: no version has what the log never set."""
        name = self._name
        if subject.startswith(_OF_TOPIC):
            subject = _OF_TOPIC + name.without(subject.removeprefix(_OF_TOPIC), TOPIC_NAME)
        elif subject.startswith(_CREDENTIAL):
            user, space, mechanism = subject.removeprefix(_CREDENTIAL).rpartition(" ")
            subject = _CREDENTIAL + name.without(user, USER) + space + mechanism
        elif subject.startswith(_QUOTA) and " user=" in subject:
            begins, equals, rest = subject.partition(" user=")
            user, space, key = rest.rpartition(" ")
            subject = begins + equals + name.without(user, USER) + space + key
        return name.without(subject, OTHER)

    def _partition(self, subject: str) -> str:
        found = _PARTITION.fullmatch(subject)
        return subject if found is None else self._name.without(found[1], TOPIC_NAME) + found[2]

    def _part(self, text: str | None) -> str | None:
        """Returns a part of a broker: a text, or a list as JSON."""
        if text is None:
            return None
        try:
            value = json.loads(text) if text.startswith("[") else None
        except ValueError:
            value = None
        if not isinstance(value, list):
            return self._name.without(text, OTHER)
        new = self._within(value)
        return text if new == value else json.dumps(new)

    def _within(self, value: object) -> object:
        if isinstance(value, str):
            return self._name.without(value, OTHER)
        if isinstance(value, list):
            return [self._within(one) for one in value]
        if isinstance(value, dict):
            return {key: self._within(one) for key, one in value.items()}
        return value
