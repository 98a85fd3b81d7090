"""Decides when Spark starts a batch of a streaming query, and how many offsets it has at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


@dataclass(frozen=True)
class BatchSchedule:
    """The schedule of the query of the typed tables."""

    offsets_per_trigger: int
    interval: str
    """The pause between batches, as Spark writes it: `30 seconds`."""
    available_now: bool
    """Whether to stop when caught up with what was committed at the start."""

    def start(self, writer: DataStreamWriter) -> StreamingQuery:
        """Starts a query and returns it."""
        if self.available_now:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=self.interval).start()
