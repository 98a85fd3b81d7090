"""Events in order and in words: one for each thing that a record changed.

Those of partitions are made as columns, in `partition_events`. An event has a kind, its subject, and the
values before and after. A snapshot does not say what happened: it is one event, whatever it begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kraftctl_spark.history.versions.kinds import BROKERS, CONFIGS, KINDS, PARTITIONS, Kind
from kraftctl_spark.history.versions.versions import Change, Key, LogPlace, Values

GAP_BEGINS, SNAPSHOT = "gap begins", "snapshot"


class Event(NamedTuple):
    """An event, in the order of the columns, which also have the cluster."""

    offset: int
    time_us: int | None
    batch_offset: int | None
    kind: str
    subject: str
    before: str | None
    after: str | None
    history_table: str
    """The table with the versions that it ended and began."""
    topic_id: str | None = None
    partition_id: int | None = None
    broker_id: int | None = None


Found = tuple[str, Any, Any]
"""The kind, and the values before and after."""


def events_of(changes: Iterable[Change]) -> Iterator[Event]:
    """Yields the events of each change, in order; none for epochs alone, and for a snapshot's versions."""
    for table, key, old, new, at in changes:
        if at.in_snapshot:
            continue
        offset, time_us, _, batch_offset = at
        subject, ids = _SUBJECTS[table](key, old or new or ())
        for kind, before, after in _FOUND[table](key, old, new):
            was, now = _text(before), _text(after)
            yield Event(offset, time_us, batch_offset, kind, subject, was, now, table, *ids)


def gap(offset: int, time_us: int | None) -> Event:
    """Returns the event after which the log is not known."""
    return Event(offset, time_us, None, GAP_BEGINS, "log", None, None, "known_ranges")


def snapshot(at: LogPlace, after: str) -> Event:
    """Returns the event from which the log is known again."""
    return Event(at.offset, at.time_us, at.batch_offset, SNAPSHOT, "log", None, after, "known_ranges")


def _text(value: Any) -> str | None:
    kind = type(value)
    if kind is list and value and type(value[0]) is not int:
        return json.dumps(value)
    return value if value is None or kind is str else str(value)


_B = BROKERS.values.index

_STATES = {
    "fenced": "broker fenced",
    "unfenced": "broker unfenced",
    "controlled shutdown": "broker shuts down",
}
_BROKER_FIELDS = [
    (_B("rack"), "rack changed"),
    (_B("log_dirs"), "log dirs changed"),
    (_B("cordoned_log_dirs"), "cordoned log dirs changed"),
    (_B("end_points"), "endpoints changed"),
    (_B("features"), "supported features changed"),
]
_BROKER_EPOCH, _STATE = _B("broker_epoch"), _B("state")


def _broker(key: Key, old: Values | None, new: Values | None) -> Iterator[Found]:
    if old is None or new is None:
        kind = "broker registered" if old is None else "broker unregistered"
        yield kind, old and old[_STATE], new and new[_STATE]
        return
    if old[_BROKER_EPOCH] != new[_BROKER_EPOCH]:
        yield "broker registered again", old[_BROKER_EPOCH], new[_BROKER_EPOCH]
    if old[_STATE] != new[_STATE]:
        yield _STATES[new[_STATE]], old[_STATE], new[_STATE]
    for place, kind in _BROKER_FIELDS:
        if old[place] != new[place]:
            yield kind, old[place], new[place]


def _quorum(key: Key, old: Values | None, new: Values | None) -> Iterator[Found]:
    names = ("quorum leader elected", "quorum epoch raised", "voters changed", "kraft.version changed")
    before, after = old or (None,) * len(names), new or (None,) * len(names)
    for kind, one, other in zip(names, before, after, strict=True):
        if one != other and not (kind == names[1] and before[0] != after[0]):
            yield kind, one, other


Finder = Callable[[Key, Values | None, Values | None], Iterable[Found]]


def _as_whole(words: tuple[str, str, str], shown: Callable[[Values], Any]) -> Finder:
    """Makes the events of a thing that one record sets and one removes."""
    name, began, ended = words
    begins, ends, changes, again = (f"{name} {what}" for what in (began, ended, "changed", "set again"))

    def found(key: Key, old: Values | None, new: Values | None) -> Iterable[Found]:
        before = None if old is None else shown(old)
        after = None if new is None else shown(new)
        kind = begins if old is None else ends if new is None else again if old == new else changes
        return ((kind, before, after),)

    return found


class Filled:
    """A text of the row of a record type, whose names in braces are replaced by the values of columns."""

    def __init__(self, text: str, columns: Sequence[str]) -> None:
        names = _IN_BRACES.findall(text)
        self._format = _IN_BRACES.sub(lambda found: f"{{{columns.index(found[1])}}}", text).format
        self._only = columns.index(names[0]) if [f"{{{name}}}" for name in names] == [text] else None
        self._shown = [columns.index(name) for name in names if name in _SHOWN]

    def text(self, values: Values) -> str:
        if self._shown:
            row = list(values)
            for place in self._shown:
                row[place] = _part(row[place])
            return self._format(*row)
        return self._format(*values)

    def value(self, values: Values) -> Any:
        """Returns the value itself where the text is one name."""
        return self.text(values) if self._only is None else values[self._only]


_IN_BRACES = re.compile(r"\{(\w+)\}")

_SHOWN = ("entity", "renewers")
"""Columns whose values are not texts or numbers."""


def _part(value: Any) -> str:
    return _entity(value) if type(value) is tuple else ", ".join(value or ()) or "none"


def _entity(entity: tuple[tuple[str, str | None], ...]) -> str:
    return " ".join(f"{kind}={'<default>' if name is None else name}" for kind, name in entity)


def name_of(kind: Kind, key: Key) -> str:
    """Returns the name for people of a thing that one record sets, of which only the key is known."""
    assert kind.set_by is not None
    assert kind.set_by.words is not None
    parts = (_entity(part) if type(part) is tuple else str(part) for part in key)
    return " ".join((kind.set_by.words[0], *parts))


_SHOWN_OF: dict[str, Callable[[Values], Any]] = {
    kind.name: Filled(kind.set_by.shown, kind.values).value
    for kind in KINDS
    if kind.set_by is not None and kind.set_by.words is not None
}

_FOUND: dict[str, Finder] = {
    **{
        kind.name: _as_whole(kind.set_by.words, _SHOWN_OF[kind.name])
        for kind in KINDS
        if kind.set_by is not None and kind.set_by.words is not None
    },
    "brokers": _broker,
    "quorum": _quorum,
}

Ids = tuple[str | None, int | None, int | None]


def _subject(kind: Kind) -> Callable[[Key, Values], tuple[str, Ids]]:
    """Returns its name for people, and the ids by which it is joined."""
    columns = [*kind.key, *kind.values]
    filled = Filled(kind.set_by.subject if kind.set_by is not None else kind.name, columns)
    topic, broker = (columns.index(name) if name in columns else None for name in ("topic_id", "broker_id"))

    def found(key: Key, values: Values) -> tuple[str, Ids]:
        row = key + values
        topic_id = None if topic is None else row[topic]
        return filled.text(row), (topic_id, None, None if broker is None else row[broker])

    return found


def _config_subject(key: Key, values: Values) -> tuple[str, Ids]:
    """Leaves out the empty name of a cluster's default."""
    return " ".join(part for part in key if part), (values[0], None, None)


_SUBJECTS = {kind.name: _subject(kind) for kind in KINDS if kind is not PARTITIONS}
_SUBJECTS[CONFIGS.name] = _config_subject


def texts_of_version(table: str, key: Key, values: Values) -> tuple[str, str | None]:
    """Returns the subject of the events that begin and end a version, and what these show of it. Of a kind
    with events for parts of it, nothing is shown.
    """
    shown = _SHOWN_OF.get(table)
    return _SUBJECTS[table](key, values)[0], None if shown is None else _text(shown(values))
