"""The tables of a history without a name, where they cannot be computed again: their records have expired.

Each row is what it would be if the log had the pseudonym. One thing remains that a computation would not
have: which of two redacted values was another one, although their digests are gone.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_protocol.record_types import TOPIC_NAME
from kraftctl_spark.forgetting.event_texts import EventTexts
from kraftctl_spark.forgetting.version_texts import texts_of_kind, version_without
from kraftctl_spark.forgetting.wanted_name import WantedName
from kraftctl_spark.history.schema import EVENTS, NOT_KNOWN, decode_versions, encode_versions
from kraftctl_spark.history.versions.kinds import KINDS, PARTITIONS, Kind

_KINDS = {kind.name: kind for kind in KINDS}
_WORDS = ("subject", "before", "after")


class HistoryWithoutName:
    """Changes rows of one history. Events are known once all versions have been seen."""

    def __init__(self, name: WantedName) -> None:
        self._name = name
        self._events = EventTexts(name)

    def change(self, table: str, rows: pa.Table) -> tuple[pa.Table, int]:
        """Returns rows of a table without the name, and how many of them change."""
        if table == PARTITIONS.name:
            return self._partitions(rows)
        if table == EVENTS:
            return self._changed_events(rows)
        if table == NOT_KNOWN:
            return self._not_known(rows)
        kind = _KINDS.get(table)
        return (rows, 0) if kind is None else self._versions(kind, rows)

    def _versions(self, kind: Kind, rows: pa.Table) -> tuple[pa.Table, int]:
        places = _having(rows, texts_of_kind(kind), self._name.bare)
        changed, new = [], []
        some = rows.take(places)
        for place, before in zip(places.to_pylist(), decode_versions(kind, some), strict=True):
            after = version_without(kind, before, self._name)
            if after is not before:
                self._events.add(kind, before, after)
                changed.append(place)
                new.append(after)
        if not changed:
            return rows, 0
        cluster_id = rows.column("cluster_id")[changed[0]].as_py()
        return _replaced(rows, changed, encode_versions(kind, new, cluster_id)), len(changed)

    def _partitions(self, rows: pa.Table) -> tuple[pa.Table, int]:
        topics = rows.column("topic").combine_chunks().dictionary_encode()
        names = topics.dictionary.to_pylist()
        new = [name if name is None else self._name.without(name, TOPIC_NAME) for name in names]
        numbers = [number for number, pair in enumerate(zip(names, new, strict=True)) if pair[0] != pair[1]]
        if not numbers:
            return rows, 0
        count = pc.sum(pc.is_in(topics.indices, pa.array(numbers, topics.indices.type))).as_py()
        without = pa.DictionaryArray.from_arrays(topics.indices, pa.array(new, pa.string()))
        return _with(rows, "topic", without.cast(pa.string())), count

    def _changed_events(self, rows: pa.Table) -> tuple[pa.Table, int]:
        places = _having(rows, _WORDS, self._name.bare)
        some = rows.take(places)
        texts = list(zip(*(some.column(word).to_pylist() for word in _WORDS), strict=True))
        about = (some.column(name).to_pylist() for name in ("history_table", "offset"))
        new = [
            self._events.without(table, offset, of_event)
            for table, offset, of_event in zip(*about, texts, strict=True)
        ]
        changed = [number for number, pair in enumerate(zip(texts, new, strict=True)) if pair[0] != pair[1]]
        if not changed:
            return rows, 0
        now = some
        for word, column in zip(_WORDS, zip(*new, strict=True), strict=True):
            now = _with(now, word, pa.array(column, pa.string()))
        return _replaced(rows, places.to_pylist(), now), len(changed)

    def _not_known(self, rows: pa.Table) -> tuple[pa.Table, int]:
        subjects = rows.column("subject").to_pylist()
        new = [self._events.not_known(subject) for subject in subjects]
        changed = sum(one != other for one, other in zip(subjects, new, strict=True))
        return (_with(rows, "subject", pa.array(new, pa.string())) if changed else rows), changed


def _having(rows: pa.Table, columns: Iterable[str], text: str) -> pa.Array:
    """Returns the numbers of the rows that have a text somewhere in these columns."""
    found = [_numbers(rows.column(name).combine_chunks(), text) for name in columns]
    numbers = pc.unique(pa.concat_arrays([pa.array([], pa.int64()), *found]))
    return numbers.take(pc.sort_indices(numbers))


def _numbers(values: pa.Array, text: str) -> pa.Array:
    """Returns the numbers of the values that have a text, at any depth."""
    kind = values.type
    if pa.types.is_list(kind):
        return pc.list_parent_indices(values).cast(pa.int64()).take(_numbers(values.flatten(), text))
    if pa.types.is_struct(kind):
        parts = [_numbers(values.field(number), text) for number in range(kind.num_fields)]
        return pa.concat_arrays([pa.array([], pa.int64()), *parts])
    if not pa.types.is_string(kind):
        return pa.array([], pa.int64())
    return pc.indices_nonzero(pc.fill_null(pc.match_substring(values, text), False)).cast(pa.int64())


def _replaced(rows: pa.Table, places: list[int], new: pa.Table) -> pa.Table:
    """Returns rows of which those at some places are others."""
    order = list(range(rows.num_rows))
    for number, place in enumerate(places):
        order[place] = rows.num_rows + number
    return pa.concat_tables([rows, new.cast(rows.schema)]).take(pa.array(order, pa.int64()))


def _with(rows: pa.Table, name: str, column: pa.Array) -> pa.Table:
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, rows.schema.field(place), column)
