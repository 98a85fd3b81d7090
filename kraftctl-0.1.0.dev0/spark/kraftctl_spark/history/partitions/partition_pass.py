"""All versions that the partitions of a step run through, computed as columns: never a row at a time.

The rows are the versions that were open before, and what the records do, sorted by partition and then in the
order of the log. In this order, what a record does not change has the value of the row before it, and a
version is ended by the row after it.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history.partitions.open_partitions import OpenPartitions
from kraftctl_spark.history.partitions.partition_columns import (
    DIRECTORIES,
    KEY,
    VERSION,
    Columns,
    Numbering,
    joined,
    row_numbers,
    shifted,
    stable_order,
    taken,
)
from kraftctl_spark.history.partitions.partition_records import ACT, CHANGE, OPEN_BEFORE, PLACE, REMOVE, SET
from kraftctl_spark.history.versions.kinds import PARTITIONS
from kraftctl_spark.history.versions.versions import CHANGED, REMOVED

MIGRATING = "AAAAAAAAAAAAAAAAAAAAAA"
"""The directory id of a replica whose directory the controller does not know yet (KIP-858)."""

_GROUP, POSITION, EXISTED = "group", "position", "existed"
_EPOCHS = ("leader_epoch", "partition_epoch")
_KEPT = tuple(name for name in PARTITIONS.values if name not in _EPOCHS)


class PartitionPass:
    """Applies the operations of a step to partitions."""

    def __init__(self, operations: Columns, partitions: OpenPartitions) -> None:
        keys = operations[KEY].dictionary_encode()
        self._open_before, before, groups = partitions.of_keys(keys.dictionary)
        rows = _sorted(before | {_GROUP: groups}, operations | {_GROUP: keys.indices})
        unknown = _of_unknown(rows)
        self.of_unknown: Columns | None = None
        """The changes of partitions that were never set; None without any."""
        if pc.any(unknown).as_py():
            self.of_unknown = {name: column.filter(unknown) for name, column in rows.items()}
            rows = {name: column.filter(pc.invert(unknown)) for name, column in rows.items()}
            rows |= {EXISTED: _existed(rows)}
        self.rows = _without_effectless(_filled(rows, partitions.numbering))
        """The rows with the values after each; those of a removal are the last ones of the partition."""
        later = pc.indices_nonzero(pc.not_equal(self.rows[ACT], OPEN_BEFORE))
        self.done = later.take(stable_order(self.rows[POSITION].take(later)))
        """The rows that change something, in the order of the log."""

    def ended(self) -> tuple[Columns, Columns]:
        """Returns the versions that ended, in that order, and the way in which they did."""
        by = self.done.filter(self.rows[EXISTED].take(self.done))
        versions = taken({name: self.rows[name] for name in VERSION}, pc.subtract(by, pa.scalar(1, by.type)))
        removed = pc.equal(self.rows[ACT].take(by), REMOVE)
        return versions, {
            "valid_to_offset": self.rows["valid_from_offset"].take(by),
            "valid_to_time": self.rows["valid_from_time"].take(by),
            "ended_by": pc.if_else(removed, REMOVED, CHANGED),
        }

    def advance(self, partitions: OpenPartitions) -> None:
        """Opens the last version of each partition."""
        if not len(self.done):
            return
        is_last = pa.concat_arrays([pc.invert(_follows(self.rows)).slice(1), pa.array([True])])
        act = self.rows[ACT]
        is_before = pc.equal(act, OPEN_BEFORE)
        begun = pc.indices_nonzero(pc.and_not(pc.and_not(is_last, is_before), pc.equal(act, REMOVE)))
        ended = self.rows[KEY].filter(pc.and_not(is_before, is_last))
        versions = taken({name: self.rows[name] for name in VERSION}, begun)
        partitions.replace(self._open_before, ended, versions)


def _sorted(before: Columns, operations: Columns) -> Columns:
    """Sorts by partition; the open version comes first, then the operations in the order of the log."""
    count = len(before[KEY])
    before = before | {ACT: pa.repeat(pa.scalar(OPEN_BEFORE, pa.int8()), count)}
    rows = joined([before, operations], (*VERSION, ACT, _GROUP))
    in_log = pc.add(stable_order(operations[PLACE]), pa.scalar(count, pa.uint64()))
    in_log = pa.concat_arrays([row_numbers(count), in_log])
    position = stable_order(rows[_GROUP].take(in_log))
    rows = taken(rows, in_log.take(position)) | {POSITION: position}
    return rows | {EXISTED: _existed(rows)}


def _follows(rows: Columns) -> pa.Array:
    """Returns whether a row is of the same partition as the one before it."""
    groups = rows[_GROUP]
    same = pc.equal(groups.slice(1), groups.slice(0, max(len(groups) - 1, 0)))
    return pa.concat_arrays([pa.array([False] * min(len(groups), 1), pa.bool_()), same])


def _existed(rows: Columns) -> pa.Array:
    """Returns whether the partition had a version before the row."""
    return pc.and_not(_follows(rows), pc.equal(shifted(rows[ACT]), REMOVE))


def _of_unknown(rows: Columns) -> pa.Array:
    """Returns which rows change a partition that was not set before, or was removed."""
    act = rows[ACT]
    is_change = pc.equal(act, CHANGE)
    if not pc.any(pc.and_not(is_change, rows[EXISTED])).as_py():
        return pa.repeat(False, len(act))
    sets = pc.or_(pc.equal(act, SET), pc.equal(act, OPEN_BEFORE))
    exists = pc.if_else(is_change, pc.if_else(_follows(rows), None, False), sets)
    return pc.and_not(is_change, pc.fill_null_forward(exists))


def _filled(rows: Columns, numbering: Numbering) -> Columns:
    """Fills in all values. Setting the leader, even to the same one, raises the leader epoch."""
    is_change = pc.equal(rows[ACT], CHANGE)
    leads_anew = pc.and_(is_change, rows["leader"].is_valid())
    filled = {name: pc.fill_null_forward(rows[name]) for name in _KEPT}
    filled["leader_epoch"] = _counted(rows["leader_epoch"], leads_anew)
    filled["partition_epoch"] = _counted(rows["partition_epoch"], is_change)
    filled[DIRECTORIES] = _directories(filled[DIRECTORIES], filled["replicas"], numbering)
    return rows | filled


def _counted(epochs: pa.Array, raised: pa.Array) -> pa.Array:
    """Counts an epoch: the last one that was set, and one more for each time that it was raised since."""
    times = pc.cumulative_sum(raised.cast(pa.int32()))
    return pc.add(pc.fill_null_forward(pc.subtract(epochs, times)), times)


def _directories(numbers: pa.Array, replicas: pa.Array, numbering: Numbering) -> pa.Array:
    """Returns directories as Kafka has them: one of each replica, also where none is known."""
    distinct = pc.unique(numbers).drop_null()
    lists = numbering.directories.values.take(distinct).to_pylist()
    unknown = [all(one == MIGRATING for one in directories) for directories in lists]
    if not any(unknown):
        return numbers
    distinct_replicas = replicas.dictionary_encode()
    lengths = pc.list_value_length(numbering.lists.values.take(distinct_replicas.dictionary)).to_pylist()
    wanted = [numbering.directories.number_of([MIGRATING] * (length or 0)) for length in lengths]
    migrating = pc.is_in(numbers, value_set=distinct.filter(pa.array(unknown)))
    return pc.if_else(migrating, pa.array(wanted, numbers.type).take(distinct_replicas.indices), numbers)


def _without_effectless(rows: Columns) -> Columns:
    """Drops effectless records: those that set the same values, or remove what is gone."""
    existed = rows[EXISTED]
    removes = pc.and_not(pc.equal(rows[ACT], REMOVE), existed)
    sets = pc.and_(pc.equal(rows[ACT], SET), existed)
    if not pc.any(pc.or_(removes, sets)).as_py():
        return rows
    for name in PARTITIONS.values:
        sets = pc.and_(sets, pc.equal(rows[name], shifted(rows[name])).fill_null(False))
    effect = pc.invert(pc.or_(removes, sets))
    rows = {name: column.filter(effect) for name, column in rows.items()}
    return rows | {EXISTED: _existed(rows)}
