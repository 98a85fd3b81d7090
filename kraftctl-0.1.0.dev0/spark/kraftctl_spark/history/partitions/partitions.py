"""Partitions: the versions that end in a step, those that are open after it, and what happened."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history.partitions.event_columns import EventColumns
from kraftctl_spark.history.partitions.open_partitions import OpenPartitions
from kraftctl_spark.history.partitions.partition_columns import (
    KEY,
    Columns,
    Meanings,
    partition_ids,
    topic_numbers,
)
from kraftctl_spark.history.partitions.partition_events import partition_events
from kraftctl_spark.history.partitions.partition_pass import PartitionPass
from kraftctl_spark.history.partitions.partition_records import PLACE, clearing, moments, operations, places
from kraftctl_spark.history.partitions.steps import Step
from kraftctl_spark.history.schema import TIME
from kraftctl_spark.history.versions.kinds import PARTITIONS
from kraftctl_spark.history.versions.quarantine import Quarantine, Quarantined
from kraftctl_spark.history.versions.versions import GAP, Versions


class PartitionRows(NamedTuple):
    """The result of a pass, as rows of tables when they are asked for: by another thread, too."""

    found: PartitionPass
    meanings: Meanings
    in_snapshot: bool

    def ended(self, cluster_id: str) -> pa.Table:
        """Returns rows in the order in which they ended."""
        return self.meanings.decoded(*self.found.ended(), cluster_id)

    def events(self) -> EventColumns | None:
        """Returns events in the order of the log; the versions that a snapshot begins have none."""
        return None if self.in_snapshot else partition_events(self.found, self.meanings)


class Partitions:
    """The partitions of all topics."""

    def __init__(self, quarantine: Quarantine, still_open: OpenPartitions | None = None) -> None:
        self.open = still_open or OpenPartitions()
        self._quarantine = quarantine

    def apply(self, step: Step, topics: Versions) -> list[PartitionRows]:
        """Applies a step; `topics` are those before it."""
        self.open.remove_ended()
        done = operations(step, self.open, topics, self._quarantine)
        clears = step.rows("clear_elr_record")
        at = moments(step, clears)
        found = []
        for number, name in enumerate(clears.column("topic_name").to_pylist()):
            of_clear = {column: values.slice(number, 1) for column, values in at.items()}
            is_earlier = pc.less(done[PLACE], of_clear[PLACE][0])
            found.append(self._pass(_filtered(done, is_earlier)))
            found.append(self._pass(clearing(self.open, name, of_clear)))
            done = _filtered(done, pc.invert(is_earlier))
        found.append(self._pass(done))
        meanings = self.open.numbering.meanings()
        return [PartitionRows(one, meanings, step.in_snapshot) for one in found if one is not None]

    def end_at_gap(self, offset: int, time_us: int | None, cluster_id: str) -> pa.Table:
        """Ends every version, because the log after it is not known."""
        rows = self.open.end_all()
        count = len(rows["valid_from_offset"])
        ends = {
            "valid_to_offset": pa.repeat(pa.scalar(offset, pa.int64()), count),
            "valid_to_time": pa.repeat(pa.scalar(time_us, pa.int64()), count).cast(TIME),
            "ended_by": pa.repeat(GAP, count),
        }
        return self.open.numbering.meanings().decoded(rows, ends, cluster_id)

    def _pass(self, done: Columns) -> PartitionPass | None:
        if not len(done[PLACE]):
            return None
        found = PartitionPass(done, self.open)
        found.advance(self.open)
        if found.of_unknown is not None:
            self._put_away(found.of_unknown)
        return found

    def _put_away(self, rows: Columns) -> None:
        """Lists the changes of partitions that were never set."""
        topics = self.open.numbering.topic_ids.values.take(topic_numbers(rows[KEY])).to_pylist()
        numbers = partition_ids(rows[KEY]).to_pylist()
        for topic_id, number, at in zip(topics, numbers, places(rows), strict=True):
            subject = f"partition {number} of topic {topic_id}"
            self._quarantine.add(Quarantined(PARTITIONS.name, subject, at, topic_id, number))


def _filtered(done: Columns, mask: pa.Array) -> Columns:
    return {name: column.filter(mask) for name, column in done.items()}
