"""Partitions: the versions that end in a step, those that are open after it, and what happened."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history.kinds import PARTITIONS
from kraftctl_spark.history.open_partitions import OpenPartitions
from kraftctl_spark.history.partition_columns import Columns
from kraftctl_spark.history.partition_events import partition_events
from kraftctl_spark.history.partition_pass import PartitionPass
from kraftctl_spark.history.partition_records import PLACE, clearing, moments, operations
from kraftctl_spark.history.schema import EVENTS_SCHEMA, SCHEMAS, TIME
from kraftctl_spark.history.steps import Step
from kraftctl_spark.history.versions import GAP, Versions


class Partitions:
    """Rows that have ended and events are collected until they are taken."""

    def __init__(self, still_open: OpenPartitions | None = None) -> None:
        self.open = still_open or OpenPartitions()
        self._ended: list[pa.Table] = []
        self._events: list[pa.Table] = []

    def apply(self, step: Step, topics: Versions, cluster_id: str) -> None:
        """`topics` are those before the step."""
        self.open.remove_ended()
        done = operations(step, self.open, topics)
        clears = step.rows("clear_elr_record")
        at = moments(step, clears)
        for number, name in enumerate(clears.column("topic_name").to_pylist()):
            of_clear = {column: values.slice(number, 1) for column, values in at.items()}
            earlier = _count_before(done, of_clear[PLACE][0])
            self._pass(
                {column: values.slice(0, earlier) for column, values in done.items()}, step, cluster_id
            )
            self._pass(clearing(self.open, name, of_clear), step, cluster_id)
            done = {column: values.slice(earlier) for column, values in done.items()}
        self._pass(done, step, cluster_id)

    def end_at_gap(self, offset: int, time_us: int | None, cluster_id: str) -> None:
        """What follows is not known: every version ends."""
        rows = self.open.end_all()
        count = len(rows["valid_from_offset"])
        ends = {
            "valid_to_offset": pa.repeat(pa.scalar(offset, pa.int64()), count),
            "valid_to_time": pa.repeat(pa.scalar(time_us, pa.int64()), count).cast(TIME),
            "ended_by": pa.repeat(GAP, count),
        }
        self._ended.append(self.open.numbering.decoded(rows, ends, cluster_id))

    def take_ended(self) -> pa.Table:
        """In the order in which they ended; each is returned once."""
        return _joined(self._ended, SCHEMAS[PARTITIONS.name])

    def take_events(self) -> pa.Table:
        """In the order of the log; each is returned once."""
        return _joined(self._events, EVENTS_SCHEMA)

    def _pass(self, done: Columns, step: Step, cluster_id: str) -> None:
        if not len(done[PLACE]):
            return
        found = PartitionPass(done, self.open)
        self._ended.append(self.open.numbering.decoded(*found.ended(), cluster_id))
        if not step.in_snapshot:
            self._events.append(partition_events(found, self.open.numbering, cluster_id))
        found.advance(self.open)


def _count_before(done: Columns, place: pa.Scalar) -> int:
    count: int = pc.sum(pc.less(done[PLACE], place)).as_py() or 0
    return count


def _joined(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    joined = pa.concat_tables([schema.empty_table(), *tables])
    tables.clear()
    return joined
