"""When Spark starts a batch of a streaming query, and how many offsets it has at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


@dataclass(frozen=True)
class BatchSchedule:
    """The choices that the queries of the wide table and of the typed tables share."""

    offsets_per_trigger: int
    interval: str
    """Pause between batches, as Spark writes it: `30 seconds`."""
    available_now: bool
    """Whether to stop when caught up with what was committed at the start."""

    def start(self, writer: DataStreamWriter) -> StreamingQuery:
        """The running query."""
        if self.available_now:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=self.interval).start()
