"""An upper bound of the records, and their bytes, that new topics and partitions need.

It follows from the request, before any of it is checked: the records of refused topics are counted, too.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.results.batch_limits import BATCH_BYTES_MAX, RECORDS_PER_BATCH_MAX

TEXTS_BYTES_MAX: Final = 1_024
"""The names of a topic and of a config in a record, with everything around a value."""

PARTITION_BYTES_MAX: Final = 128
"""A PartitionRecord without its replicas, and its share of a batch."""

REPLICA_BYTES: Final = 24
"""A replica has two ids and a directory."""

CHAR_BYTES_MAX: Final = 3
"""A UTF-16 unit has at most this many bytes in UTF-8."""


class NeededRecords:
    """The bound of one topic, or of all topics of a request."""

    def __init__(self) -> None:
        self.record_count = 0
        self.bytes = 0

    def add_topic(self) -> None:
        """Adds the TopicRecord of a topic."""
        self.record_count += 1
        self.bytes += TEXTS_BYTES_MAX

    def add_config(self, value: str | None) -> None:
        """Adds a ConfigRecord, and the ClearElrRecord that it may need (KIP-966)."""
        self.record_count += 2
        self.bytes += 2 * TEXTS_BYTES_MAX + CHAR_BYTES_MAX * len(value or "")

    def add_partitions(self, count: int, replication_factor: int) -> None:
        """Adds partitions and replicas, whose numbers may be invalid."""
        valid_count = max(0, count)
        self.record_count += valid_count
        self.bytes += valid_count * (PARTITION_BYTES_MAX + REPLICA_BYTES * max(0, replication_factor))

    def may_exceed_a_batch(self) -> bool:
        """Returns whether one batch of the log may be too small."""
        return self.record_count > RECORDS_PER_BATCH_MAX or self.bytes > BATCH_BYTES_MAX
