"""Versions of partitions as columns of integers: topics, names and lists are numbers of distinct ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history.partitions.distinct import NUMBER, DistinctLists, DistinctTextLists, DistinctTexts
from kraftctl_spark.history.schema import SCHEMAS, TIME
from kraftctl_spark.history.versions.kinds import PARTITIONS

Columns = dict[str, pa.Array]
"""Arrays of the same length, by name."""

LISTS = ("replicas", "isr", "adding_replicas", "removing_replicas", "elr", "last_known_elr")
DIRECTORIES = "directories"
KEY = "key"
"""The number of the topic in the upper half, the partition id in the lower one."""

BEGAN = ("valid_from_offset", "valid_from_time", "from_snapshot", "batch_offset")
VERSION = (KEY, *PARTITIONS.values, *BEGAN)
TYPES = {
    KEY: pa.int64(),
    **dict.fromkeys(PARTITIONS.values, NUMBER),
    "valid_from_offset": pa.int64(),
    "valid_from_time": TIME,
    "from_snapshot": pa.bool_(),
    "batch_offset": pa.int64(),
}
PARTITION_BITS = 32

_DIGIT_BITS = 12
_FEW = 1024
"""Arrow counts values if there are more than these."""

SPARE_NUMBERS = 10_000
"""This many distinct texts and lists that no row has, and as many as rows have, are kept."""


class Meanings(NamedTuple):
    """The meanings of the numbers, in their order."""

    topic_ids: pa.Array
    names: pa.Array
    lists: pa.Array
    directories: pa.Array
    empty: int
    """The number of the empty list."""

    def decoded(self, columns: Columns, ends: Columns, cluster_id: str) -> pa.Table:
        """Returns rows of the table of versions; `ends` are the last columns before the cluster."""
        count = len(columns[KEY])
        found = {
            **{name: columns[name] for name in VERSION if name != KEY},
            "topic_id": self.topic_ids.take(topic_numbers(columns[KEY])),
            "partition_id": partition_ids(columns[KEY]),
            "topic": self.names.take(columns["topic"]),
            **{name: self.lists.take(columns[name]) for name in LISTS},
            DIRECTORIES: self.directories.take(columns[DIRECTORIES]),
            **ends,
            "cluster_id": pa.repeat(pa.scalar(cluster_id, pa.string()), count),
        }
        schema = SCHEMAS[PARTITIONS.name]
        return pa.Table.from_arrays([found[name] for name in schema.names], schema=schema)


class Numbering:
    """The numbers of the values in the columns."""

    def __init__(self) -> None:
        self.topic_ids = DistinctTexts()
        self.names = DistinctTexts()
        self.lists = DistinctLists()
        self.directories = DistinctTextLists()

    def keys(self, topic_ids: pa.Array, partition_ids: pa.Array) -> pa.Array:
        topics = pc.shift_left(self.topic_ids.numbers_of(topic_ids).cast(pa.int64()), PARTITION_BITS)
        return pc.bit_wise_or(topics, partition_ids.cast(pa.int64()))

    def list_numbers(self, name: str, column: pa.Array) -> pa.Array:
        return (self.directories if name == DIRECTORIES else self.lists).numbers_of(column)

    def encoded(self, rows: pa.Table) -> Columns:
        """Returns the columns of rows of the table of versions that are still open."""
        columns = {name: array(rows.column(name)) for name in rows.column_names}
        found = {KEY: self.keys(columns["topic_id"], columns["partition_id"])}
        for name in PARTITIONS.values:
            if name == "topic":
                found[name] = self.names.numbers_of(columns[name])
            elif name in LISTS or name == DIRECTORIES:
                found[name] = self.list_numbers(name, columns[name])
            else:
                found[name] = columns[name]
        return found | {name: columns[name] for name in BEGAN}

    def meanings(self) -> Meanings:
        """Returns the meanings of the numbers so far, which do not change: another thread may use them."""
        empty = self.lists.number_of([])
        topic_ids, names = self.topic_ids.values, self.names.values
        return Meanings(topic_ids, names, self.lists.values, self.directories.values, empty)

    def renumbered(self, rows: Columns) -> Columns:
        """Forgets values that no row has, if they are many: then the same rows have other numbers."""
        rows = dict(rows)
        topics = topic_numbers(rows[KEY])
        if (new := _kept(self.topic_ids, [topics])) is not None:
            shifted_topics = pc.shift_left(new.take(topics).cast(pa.int64()), PARTITION_BITS)
            rows[KEY] = pc.bit_wise_or(shifted_topics, partition_ids(rows[KEY]).cast(pa.int64()))
        of: list[tuple[DistinctTexts | DistinctLists, Sequence[str]]] = [
            (self.names, ("topic",)),
            (self.lists, LISTS),
            (self.directories, (DIRECTORIES,)),
        ]
        for distinct, names in of:
            if (new := _kept(distinct, [rows[name] for name in names])) is not None:
                rows |= {name: new.take(rows[name]) for name in names}
        return rows

    def in_order_of_keys(self, columns: Columns) -> pa.Array:
        """Sorts by the id of the topic, then by that of the partition."""
        by = {
            "topic": _text_ranks(topic_numbers(columns[KEY]), self.topic_ids.values.take),
            "id": partition_ids(columns[KEY]),
        }
        return _sorted_by(by)

    def in_order(self, columns: Columns) -> pa.Array:
        """Returns the order of `versions.beginning`: by offset, then by the key as text."""
        topics, ids = topic_numbers(columns[KEY]), partition_ids(columns[KEY])
        by = {
            "offset": columns["valid_from_offset"],
            "topic": _text_ranks(topics, self.topic_ids.values.take),
            "id": _text_ranks(ids, lambda numbers: numbers.cast(pa.string())),
        }
        return _sorted_by(by)


def topic_numbers(keys: pa.Array) -> pa.Array:
    return pc.shift_right(keys, PARTITION_BITS).cast(NUMBER)


def partition_ids(keys: pa.Array) -> pa.Array:
    return pc.bit_wise_and(keys, 2**PARTITION_BITS - 1).cast(pa.int32())


def array(column: pa.ChunkedArray) -> pa.Array:
    """Returns the chunks of an array as one array."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def taken(columns: Mapping[str, pa.Array], rows: pa.Array) -> Columns:
    return {name: column.take(rows) for name, column in columns.items()}


def joined(parts: Sequence[Mapping[str, pa.Array]], names: Iterable[str]) -> Columns:
    return {name: pa.concat_arrays([part[name] for part in parts]) for name in names}


def none() -> Columns:
    return {name: pa.array([], TYPES[name]) for name in VERSION}


def row_numbers(count: int) -> pa.Array:
    """Returns row numbers in the type of Arrow's orders."""
    return pa.arange(0, count).cast(pa.uint64())


def shifted(column: pa.Array) -> pa.Array:
    """Each row has the value of the one before it; the first one has its own."""
    return pa.concat_arrays([column.slice(0, 1), column.slice(0, max(len(column) - 1, 0))])


def stable_order(values: pa.Array) -> pa.Array:
    """Sorts stably like `array_sort_indices` of integers, digit by digit.

    Arrow compares values whose range is larger than 4,096 (5.5 ms for 56,000), and counts others (0.3 ms).
    """
    if len(values) < _FEW:
        return pc.array_sort_indices(values)
    digits = pc.subtract(values, pc.min(values))
    highest, order = pc.max(digits).as_py(), pc.array_sort_indices(pc.bit_wise_and(digits, _digit(digits)))
    while highest := highest >> _DIGIT_BITS:
        digits = pc.shift_right(digits, pa.scalar(_DIGIT_BITS, digits.type))
        order = order.take(pc.array_sort_indices(pc.bit_wise_and(digits, _digit(digits)).take(order)))
    return order


def _digit(numbers: pa.Array) -> pa.Scalar:
    return pa.scalar(2**_DIGIT_BITS - 1, numbers.type)


def ranks(column: pa.Array) -> pa.Array:
    """Returns for each row its place in the order of the values."""
    return pc.array_sort_indices(pc.array_sort_indices(column))


def _text_ranks(numbers: pa.Array, texts_of: Callable[[pa.Array], pa.Array]) -> pa.Array:
    encoded = numbers.dictionary_encode()
    return ranks(texts_of(encoded.dictionary)).take(encoded.indices)


def _sorted_by(columns: Columns) -> pa.Array:
    return pc.sort_indices(pa.table(columns), sort_keys=[(name, "ascending") for name in columns])


def _kept(distinct: DistinctTexts | DistinctLists, columns: Sequence[pa.Array]) -> pa.Array | None:
    """Returns new numbers by old one; None if hardly any would be forgotten."""
    used = pc.unique(pa.concat_arrays(columns))
    if len(distinct.values) <= 2 * len(used) + SPARE_NUMBERS:
        return None
    return distinct.keep(used.take(pc.array_sort_indices(used)))
