"""The changes of partitions by the records of a step, as columns.

A PartitionRecord sets all values, a PartitionChangeRecord some; a topic that is removed ends all of its
partitions. Null means no change (KIP-631).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history.partitions.distinct import NUMBER
from kraftctl_spark.history.partitions.open_partitions import OpenPartitions
from kraftctl_spark.history.partitions.partition_columns import (
    DIRECTORIES,
    KEY,
    LISTS,
    PARTITION_BITS,
    TYPES,
    VERSION,
    Columns,
    array,
    joined,
    stable_order,
    taken,
    topic_numbers,
)
from kraftctl_spark.history.partitions.steps import Step
from kraftctl_spark.history.versions.kinds import PARTITIONS
from kraftctl_spark.history.versions.quarantine import Quarantine, Quarantined
from kraftctl_spark.history.versions.versions import LogPlace, Versions

NO_LEADER_CHANGE = -2
NO_RECOVERY_CHANGE = -1

ACT = "act"
OPEN_BEFORE, SET, CHANGE, REMOVE = range(4)
"""The kind of a row: the version that was open before, or a change by a record."""

PLACE = "place"
OPERATION = (*VERSION, ACT, PLACE)

RECORD_NAMES = {"elr": "eligible_leader_replicas"}
_UNKNOWN = -1


def operations(step: Step, partitions: OpenPartitions, topics: Versions, quarantine: Quarantine) -> Columns:
    """Returns the operations in any order; a partition of an unknown topic gets into quarantine.

    A removal is there for each partition that its topic may have then: it does nothing to one that is gone.
    """
    parts = [_changes(step, partitions), _sets(step, partitions, topics, quarantine)]
    parts.append(_removals(step, partitions, parts[1][KEY]))
    return joined(parts, OPERATION)


def clearing(partitions: OpenPartitions, name: str, at: Columns) -> Columns:
    """Returns the changes of a ClearElrRecord, which raises the partition epoch of what it clears
    (KIP-966).
    """
    cleared = partitions.with_elr(name)
    count = len(cleared[KEY])
    empty = pa.repeat(pa.scalar(partitions.numbering.lists.number_of([]), NUMBER), count)
    found = {name: pa.nulls(count, TYPES[name]) for name in PARTITIONS.values}
    found |= {KEY: cleared[KEY], "elr": empty, "last_known_elr": empty, ACT: _acts(CHANGE, count)}
    return found | taken(at, pa.repeat(0, count))


def moments(step: Step, rows: pa.Table) -> Columns:
    """Returns the places of records: columns of the versions that they begin, and their place in the step."""
    return {
        "valid_from_offset": array(rows.column("offset")),
        "valid_from_time": array(rows.column("time")),
        "from_snapshot": pa.repeat(step.in_snapshot, rows.num_rows),
        "batch_offset": array(rows.column("batch_offset")),
        PLACE: array(rows.column("place")),
    }


def places(rows: Columns) -> Iterator[LogPlace]:
    """Yields the places of rows in the log."""
    offsets, batches = rows["valid_from_offset"].to_pylist(), rows["batch_offset"].to_pylist()
    times = rows["valid_from_time"].cast(pa.int64()).to_pylist()
    return map(LogPlace, offsets, times, rows["from_snapshot"].to_pylist(), batches)


def _changes(step: Step, partitions: OpenPartitions) -> Columns:
    rows = step.rows("partition_change_record")
    count = rows.num_rows
    found = moments(step, rows) | {ACT: _acts(CHANGE, count)}
    found |= {name: pa.nulls(count, NUMBER) for name in ("topic", "leader_epoch", "partition_epoch")}
    found |= _keys(rows, partitions) | _lists(rows, partitions)
    leader, recovery = array(rows.column("leader")), array(rows.column("leader_recovery_state"))
    found["leader"] = _null_where(pc.equal(leader, NO_LEADER_CHANGE), leader)
    found["leader_recovery_state"] = _null_where(pc.equal(recovery, NO_RECOVERY_CHANGE), recovery)
    return found


def _sets(step: Step, partitions: OpenPartitions, topics: Versions, quarantine: Quarantine) -> Columns:
    rows = step.rows("partition_record")
    found = moments(step, rows) | {ACT: _acts(SET, rows.num_rows)} | _keys(rows, partitions)
    for name in ("leader", "leader_epoch", "partition_epoch"):
        found[name] = array(rows.column(name))
    found["leader_recovery_state"] = array(rows.column("leader_recovery_state")).fill_null(0)
    for name, numbers in _lists(rows, partitions).items():
        of = partitions.numbering.directories if name == DIRECTORIES else partitions.numbering.lists
        found[name] = numbers.fill_null(of.number_of([])) if numbers.null_count else numbers
    found["topic"] = _names(step, rows, partitions, topics)
    unknown = pc.equal(found["topic"], _UNKNOWN)
    if not pc.any(unknown).as_py():
        return found
    of_unknown = {name: column.filter(unknown) for name, column in found.items()}
    topic_ids = array(rows.column("topic_id")).filter(unknown).to_pylist()
    for topic_id, at in zip(topic_ids, places(of_unknown), strict=True):
        quarantine.add(Quarantined(PARTITIONS.name, f"partitions of topic {topic_id}", at, topic_id))
    return {name: column.filter(pc.invert(unknown)) for name, column in found.items()}


def _removals(step: Step, partitions: OpenPartitions, set_keys: pa.Array) -> Columns:
    rows = step.rows("remove_topic_record")
    topics = partitions.numbering.topic_ids.numbers_of(array(rows.column("topic_id")))
    known = [
        partitions.keys_of_topics(topics),
        set_keys.filter(pc.is_in(topic_numbers(set_keys), value_set=topics)),
    ]
    keys_of: dict[int, list[int]] = defaultdict(list)
    for key in sorted(set(pa.concat_arrays(known).to_pylist())):
        keys_of[key >> PARTITION_BITS].append(key)
    keys: list[int] = []
    of: list[int] = []
    for number, topic in enumerate(topics.to_pylist()):
        keys += keys_of[topic]
        of += [number] * len(keys_of[topic])
    found = {name: pa.nulls(len(keys), TYPES[name]) for name in PARTITIONS.values}
    found |= {KEY: pa.array(keys, TYPES[KEY]), ACT: _acts(REMOVE, len(keys))}
    return found | taken(moments(step, rows), pa.array(of, pa.int64()))


def _names(step: Step, rows: pa.Table, partitions: OpenPartitions, topics: Versions) -> pa.Array:
    """Returns the names of set partitions' topics, as of each record; `_UNKNOWN` for an unknown topic."""
    numbering, created, removed = (
        partitions.numbering,
        step.rows("topic_record"),
        step.rows("remove_topic_record"),
    )
    topic_ids = array(rows.column("topic_id"))
    distinct = pc.unique(topic_ids)
    known = [topics.values((topic_id,)) for topic_id in distinct.to_pylist()]
    before = pa.array([None if values is None else values[0] for values in known], pa.string())
    unknown = pa.scalar(_UNKNOWN, NUMBER)
    parts = [
        (distinct, pa.nulls(len(distinct), pa.int64()).fill_null(-1), _numbers(before, partitions)),
        (
            created.column("topic_id"),
            created.column("place"),
            numbering.names.numbers_of(array(created.column("name"))),
        ),
        (removed.column("topic_id"), removed.column("place"), pa.repeat(unknown, removed.num_rows)),
        (topic_ids, rows.column("place"), pa.nulls(rows.num_rows, NUMBER)),
    ]
    ids, places, names = (
        array(pa.chunked_array([chunk for part in column for chunk in _chunks(part)], kind))
        for column, kind in zip(zip(*parts, strict=True), (pa.string(), pa.int64(), NUMBER), strict=True)
    )
    order = stable_order(places)
    order = order.take(stable_order(ids.dictionary_encode().indices.take(order)))
    of_rows = pc.array_sort_indices(order).slice(len(ids) - rows.num_rows)
    return pc.fill_null_forward(names.take(order)).take(of_rows)


def _numbers(names: pa.Array, partitions: OpenPartitions) -> pa.Array:
    """Returns the numbers of the names, `_UNKNOWN` for null."""
    numbers = partitions.numbering.names.numbers_of(names.fill_null(""))
    return pc.if_else(names.is_valid(), numbers, pa.scalar(_UNKNOWN, NUMBER))


def _chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _keys(rows: pa.Table, partitions: OpenPartitions) -> Columns:
    topic_ids, ids = array(rows.column("topic_id")), array(rows.column("partition_id"))
    return {KEY: partitions.numbering.keys(topic_ids, ids)}


def _lists(rows: pa.Table, partitions: OpenPartitions) -> Columns:
    return {
        name: partitions.numbering.list_numbers(name, array(rows.column(RECORD_NAMES.get(name, name))))
        for name in (*LISTS, DIRECTORIES)
    }


def _acts(act: int, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(act, pa.int8()), count)


def _null_where(condition: pa.Array, values: pa.Array) -> pa.Array:
    return pc.if_else(condition, pa.scalar(None, values.type), values)
