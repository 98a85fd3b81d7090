"""Keeps the common data of a batch's rows once for all of them, and not once for each."""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby

from kraftctl_protocol.record_batch import BatchHeader, Record, have_one_timestamp


class RowRuns:
    """Consecutive rows of one batch with one timestamp, in their order: a list per property.

    A controller gives all records of a batch the same timestamp, so a batch is normally one run. The offsets
    of a run are consecutive.
    """

    def __init__(self) -> None:
        self.ends: list[int] = []
        """The place after the last row of each run."""
        self.first_offsets: list[int] = []
        """The offset of the first row of each run, which may not be the first record of its batch."""
        self.batch_offsets: list[int] = []
        """The first offset of each run's batch."""
        self.epochs: list[int] = []
        self.timestamps_ms: list[int] = []
        self.are_control: list[bool] = []
        """Whether it is a run of records of the raft layer."""

    @property
    def rows(self) -> int:
        """The number of rows of all runs."""
        return self.ends[-1] if self.ends else 0

    def add(self, header: BatchHeader, records: list[Record]) -> None:
        """Adds consecutive records of a batch."""
        offset = records[0].offset
        if have_one_timestamp(records):
            self._add(header, offset, len(records), records[0].timestamp_ms)
            return
        for time_ms, same in groupby(record.timestamp_ms for record in records):
            count = len(list(same))
            self._add(header, offset, count, time_ms)
            offset += count

    def _add(self, header: BatchHeader, first_offset: int, count: int, timestamp_ms: int) -> None:
        self.ends.append(self.rows + count)
        self.first_offsets.append(first_offset)
        self.batch_offsets.append(header.base_offset)
        self.epochs.append(header.partition_leader_epoch)
        self.timestamps_ms.append(timestamp_ms)
        self.are_control.append(header.is_control)

    def run_of(self, place: int) -> int:
        """Returns the run that the row at `place` is in."""
        return bisect_right(self.ends, place)

    def start(self, run: int) -> int:
        """Returns the place of its first row."""
        return self.ends[run - 1] if run else 0

    def offset(self, place: int) -> int:
        """Returns the offset of the row at `place`."""
        run = self.run_of(place)
        return self.first_offsets[run] + place - self.start(run)

    def places_between(self, first: int, last: int) -> list[int]:
        """Returns the places of the data records at the offsets from `first` to `last`, both inclusive."""
        places: list[int] = []
        for run, (end, offset) in enumerate(zip(self.ends, self.first_offsets, strict=True)):
            start = self.start(run)
            if not self.are_control[run]:
                places += range(start + max(first - offset, 0), min(start + last + 1 - offset, end))
        return places
