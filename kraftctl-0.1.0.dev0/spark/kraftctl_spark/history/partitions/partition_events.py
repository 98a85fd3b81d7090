"""Makes events of partitions, in words, as columns. `events` has the other kinds."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history.partitions.distinct import NUMBER
from kraftctl_spark.history.partitions.event_columns import EventColumns, Numbered
from kraftctl_spark.history.partitions.partition_columns import (
    DIRECTORIES,
    KEY,
    Columns,
    Meanings,
    partition_ids,
    shifted,
    stable_order,
    taken,
    topic_numbers,
)
from kraftctl_spark.history.partitions.partition_pass import EXISTED, POSITION, PartitionPass
from kraftctl_spark.history.partitions.partition_records import ACT, OPEN_BEFORE, REMOVE
from kraftctl_spark.history.versions.kinds import PARTITIONS

RECOVERING = 1
_LEADER_KINDS = ["leader elected", "unclean election", "leader lost"]
_CLEAN, _UNCLEAN, _LOST = (pa.scalar(number, NUMBER) for number in range(len(_LEADER_KINDS)))
_ISR_KINDS = ["ISR reordered", "ISR shrank", "ISR grew", "ISR shrank and grew"]
"""The kinds by whether a broker left (1), and whether one joined (2)."""

_SET_BITS = 62
"""This many brokers are compared with one operation."""

_Part = tuple[pa.Array, pa.Array, pa.Array, pa.Array]
"""Events of one kind, or a few: their rows, and the numbers of the kind and of the texts before and after."""


def partition_events(found: PartitionPass, meanings: Meanings) -> EventColumns | None:
    """Returns events in log order, those of one record in a fixed order; None if there are none."""
    changes = _Changes(found.rows, meanings)
    parts = [part for part in changes.parts() if len(part[0])]
    if not parts:
        return None
    rows, *words = (pa.concat_arrays(list(column)) for column in zip(*parts, strict=True))
    order = stable_order(found.rows[POSITION].take(rows))
    texts = (Numbered(changes.texts, numbers.take(order)) for numbers in words)
    columns = dict(zip(("kind", "before", "after"), texts, strict=True))
    return columns | _subjects(found.rows, rows.take(order), meanings)


class _Changes:
    """The differences between each row and the one before it, the version that it ended."""

    def __init__(self, rows: Columns, meanings: Meanings) -> None:
        self._new = rows
        self._old = {name: shifted(rows[name]) for name in PARTITIONS.values}
        self._meanings = meanings
        act = rows[ACT]
        self._acts = pc.not_equal(act, OPEN_BEFORE)
        self._changed = pc.and_not(rows[EXISTED], pc.equal(act, REMOVE))
        self._texts: list[pa.Array] = []
        self._count = 0

    @property
    def texts(self) -> pa.Array:
        """Returns the texts for the numbers in the parts."""
        return pa.concat_arrays(self._texts)

    def parts(self) -> list[_Part]:
        """Returns the parts in the order of a record's events."""
        differs = {name: self._differs(name) for name in PARTITIONS.values}
        led = pc.or_(differs["leader"], differs["leader_recovery_state"])
        raised = pc.and_(differs["leader_epoch"], pc.invert(led))
        moved, moves = self._moves(self._old), self._moves(self._new)
        return [
            self._whole(pc.and_not(self._acts, self._new[EXISTED]), "partition created", None, "replicas"),
            self._whole(pc.equal(self._new[ACT], REMOVE), "partition deleted", "replicas", None),
            self._led(differs["leader"]),
            self._whole(self._recovered(), "recovered", None, None),
            self._of(raised, "leader epoch raised", "leader_epoch"),
            self._isr(differs["isr"]),
            self._of(differs["replicas"], "replicas changed", "replicas"),
            self._of(
                pc.and_(differs[DIRECTORIES], pc.invert(differs["replicas"])),
                "directories changed",
                DIRECTORIES,
            ),
            self._of(pc.and_(self._changed, pc.and_not(moves, moved)), "reassignment begun", "replicas"),
            self._of(pc.and_(self._changed, pc.and_not(moved, moves)), "reassignment ended", "replicas"),
            self._of(differs["elr"], "ELR changed", "elr"),
            self._of(differs["last_known_elr"], "last known ELR changed", "last_known_elr"),
        ]

    def _differs(self, name: str) -> pa.Array:
        return pc.and_(self._changed, pc.not_equal(self._new[name], self._old[name]))

    def _moves(self, versions: Columns) -> pa.Array:
        """Returns whether replicas are added or removed."""
        empty = self._meanings.empty
        lists = (versions[name] for name in ("adding_replicas", "removing_replicas"))
        return pc.or_(*(pc.not_equal(numbers, empty) for numbers in lists))

    def _recovered(self) -> pa.Array:
        new, old = (versions["leader_recovery_state"] for versions in (self._new, self._old))
        return pc.and_(self._changed, pc.and_(pc.equal(new, 0), pc.equal(old, RECOVERING)))

    def _of(self, condition: pa.Array, kind: str, name: str) -> _Part:
        return self._whole(condition, kind, name, name)

    def _whole(self, condition: pa.Array, kind: str, before: str | None, after: str | None) -> _Part:
        rows = pc.indices_nonzero(condition)
        if not len(rows):
            return rows, rows, rows, rows
        kinds = pa.repeat(self._text(pa.array([kind]))[0], len(rows))
        return rows, kinds, self._numbers(rows, self._old, before), self._numbers(rows, self._new, after)

    def _led(self, condition: pa.Array) -> _Part:
        rows, _, before, after = self._of(condition, "", "leader")
        kinds = pc.if_else(self._unclean(rows), _UNCLEAN, _CLEAN)
        kinds = pc.if_else(pc.less(self._new["leader"].take(rows), 0), _LOST, kinds)
        return rows, self._text(pa.array(_LEADER_KINDS)).take(kinds), before, after

    def _unclean(self, rows: pa.Array) -> pa.Array:
        """Finds unclean elections, with which Kafka begins to recover a partition (KIP-704).

        One that is recovering already does not begin again: then only elections of replicas that could be
        elected are clean.
        """
        recovery = "leader_recovery_state"
        new, old = (
            taken({name: versions[name] for name in ("leader", recovery, "isr", "elr")}, rows)
            for versions in (self._new, self._old)
        )
        unclean = pc.equal(new[recovery], RECOVERING)
        again = pc.indices_nonzero(pc.and_(unclean, pc.equal(old[recovery], RECOVERING)))
        if not len(again):
            return unclean
        electable = [self._meanings.lists.take(old[name].take(again)).to_pylist() for name in ("isr", "elr")]
        leaders = new["leader"].take(again).to_pylist()
        clean = [
            place
            for place, one, *lists in zip(again.to_pylist(), leaders, *electable, strict=True)
            if any(one in brokers for brokers in lists)
        ]
        places = pa.array(range(len(rows)), pa.int64())
        return pc.and_(unclean, pc.invert(pc.is_in(places, value_set=pa.array(clean, pa.int64()))))

    def _isr(self, condition: pa.Array) -> _Part:
        rows, _, before, after = self._of(condition, "", "isr")
        old, new = (versions["isr"].take(rows) for versions in (self._old, self._new))
        left, joined = _has_more(old, new, self._meanings.lists), _has_more(new, old, self._meanings.lists)
        kinds = pc.add(left.cast(pa.int32()), pc.multiply(joined.cast(pa.int32()), 2))
        return rows, self._text(pa.array(_ISR_KINDS)).take(kinds), before, after

    def _numbers(self, rows: pa.Array, versions: Columns, name: str | None) -> pa.Array:
        """Returns the numbers of a column's texts; distinct values are made to text once."""
        if name is None:
            return pa.nulls(len(rows), NUMBER)
        values = versions[name].take(rows).dictionary_encode()
        return self._text(self._as_text(name, values.dictionary)).take(values.indices)

    def _as_text(self, name: str, values: pa.Array) -> pa.Array:
        if name in ("leader", "leader_epoch"):
            return values.cast(pa.string())
        if name == DIRECTORIES:
            lists = self._meanings.directories.take(values).to_pylist()
            return pa.array(map(json.dumps, lists), pa.string())
        return pa.array(map(str, self._meanings.lists.take(values).to_pylist()), pa.string())

    def _text(self, texts: pa.Array) -> pa.Array:
        """Returns the numbers of these texts."""
        first, self._count = self._count, self._count + len(texts)
        self._texts.append(texts)
        return pa.array(range(first, self._count), NUMBER)


def _has_more(one: pa.Array, other: pa.Array, lists: pa.Array) -> pa.Array:
    """Returns for each row whether the first of two lists has a broker that the second lacks."""
    numbers = pa.concat_arrays([one, other]).dictionary_encode()
    distinct = lists.take(numbers.dictionary).to_pylist()
    places = {broker: place for place, broker in enumerate({broker for one in distinct for broker in one})}
    sets = [sum(1 << places[broker] for broker in set(one)) for one in distinct]
    more = pa.repeat(False, len(one))
    for first in range(0, len(places), _SET_BITS):
        bits = pa.array([brokers >> first & 2**_SET_BITS - 1 for brokers in sets], pa.int64())
        of_rows = bits.take(numbers.indices)
        of_one, of_other = of_rows.slice(0, len(one)), of_rows.slice(len(one))
        more = pc.or_(more, pc.not_equal(pc.bit_wise_and(of_one, pc.bit_wise_not(of_other)), 0))
    return more


def _subjects(all_rows: Columns, rows: pa.Array, meanings: Meanings) -> dict[str, Numbered | pa.Array]:
    """Returns place and partition of each row. Consecutive rows of a partition share values."""
    keys, topics = all_rows[KEY], all_rows["topic"]
    begins = pc.or_(pc.not_equal(keys, shifted(keys)), pc.not_equal(topics, shifted(topics)))
    numbers = pc.cumulative_sum(begins.cast(NUMBER)).take(rows)
    first = pa.concat_arrays([pa.array([0], pa.uint64()), pc.indices_nonzero(begins)])
    keys, names = keys.take(first), meanings.names.take(topics.take(first))
    ids = partition_ids(keys)
    subjects = pc.binary_join_element_wise(names, ids.cast(pa.string()), "-")
    count = len(rows)
    return {
        "offset": all_rows["valid_from_offset"].take(rows),
        "time": all_rows["valid_from_time"].take(rows),
        "batch_offset": all_rows["batch_offset"].take(rows),
        "subject": Numbered(subjects, numbers),
        "history_table": Numbered(pa.array([PARTITIONS.name]), pa.repeat(pa.scalar(0, NUMBER), count)),
        "topic_id": Numbered(meanings.topic_ids.take(topic_numbers(keys)), numbers),
        "partition_id": ids.take(numbers),
        "broker_id": pa.nulls(count, pa.int32()),
    }
