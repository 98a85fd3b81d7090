"""Writes exported records as the files of a controller: a checkpoint, if they begin with one, and a log.

What reads a controller's directory reads the past in them: `kraftctl explain`, `dump` and `shell`. Values are
those of the tables, so secrets stay redacted; what the tables lack is an unknown record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import pyarrow as pa

from kraftctl_protocol.log_file_names import (
    META_PROPERTIES,
    PARTITION_DIRECTORY,
    checkpoint_file_name,
    segment_file_name,
)
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.metadata_record import frame_of
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch
from kraftctl_spark.history.raw_records import first_time_us, last_time_us
from kraftctl_spark.rows.tables import RECORDS
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest

RECORDS_PER_BATCH_MAX: Final = 1_000

NO_NODE: Final = -1
"""The files are those of no node."""

LACKING: Final = frame_of(32_767, 0)
"""A record of a type that no release has replaces a value that was redacted because it may hide secrets."""

KEY_LACKING: Final = (-1, b"")
"""A control record of no type replaces one whose key cannot be decoded: the tables have no key of it."""

COLUMNS: Final = (
    "offset",
    "log_epoch",
    "timestamp",
    "is_control",
    "type_id",
    "payload",
    "snapshot_index",
    "batch_offset",
)


@dataclass(frozen=True)
class KnownLog:
    """Consecutive manifests, of which the first may be of a snapshot; its earlier offsets are not known."""

    manifests: tuple[Manifest, ...]

    @property
    def start_offset(self) -> int:
        first = self.manifests[0]
        return first.end - 1 if first.snapshot else first.start

    @property
    def end_offset(self) -> int:
        """Returns the end of what is known, exclusive."""
        return self.manifests[-1].end

    def times_us(self, tables: Path) -> tuple[int | None, int | None]:
        """Returns the times of the first and of the last record; of a snapshot, that of the last in it."""
        first = self.manifests[0]
        start = last_time_us(tables, first) if first.snapshot else first_time_us(tables, first)
        return start, last_time_us(tables, self.manifests[-1])


@dataclass(frozen=True)
class PastPlace:
    """An offset, whose batch is included, or a time; without either, the end of the tables."""

    offset: int | None = None
    time_ms: int | None = None
    span_ms: int = 0
    """How long after that records still count: a time without a fraction is a whole second."""


class Row(NamedTuple):
    """One record; `place` is its offset, or its index in a snapshot."""

    place: int
    epoch: int
    time_ms: int
    is_control: bool
    type_id: int | None
    value: bytes | None
    batch: int | None
    """The offset of the first record of its batch."""

    @property
    def control(self) -> tuple[int, bytes]:
        """Returns the type and the value of a control record; what cannot be decoded stays so."""
        return KEY_LACKING if self.type_id is None else (self.type_id, self.value or b"")


def known_logs(manifests: Sequence[Manifest]) -> list[KnownLog]:
    """Divides live manifests where a snapshot begins; what has expired is in none."""
    found: list[list[Manifest]] = []
    for manifest in (one for one in manifests if one.expired is None):
        if manifest.snapshot or not found:
            found.append([])
        found[-1].append(manifest)
    return [KnownLog(tuple(each)) for each in found]


def write_log(tables: Path, manifests: Sequence[Manifest], as_of: PastPlace, to: Path) -> int:
    """Writes the files into `to`, an empty directory, and returns the end of the log, exclusive.

    ExportRefusedError for an offset or a time at which the state is not known.
    """
    log = known_log_at(tables, known_logs(manifests), as_of)
    first = log.manifests[0]
    if first.start and not first.snapshot:
        raise ExportRefusedError(
            f"the records before offset {first.start} of {tables} have expired, and without them a log has "
            "no whole state: choose a place behind a later snapshot, or ask the history"
        )
    partition = to / PARTITION_DIRECTORY
    partition.mkdir()
    meta = MetaProperties(first.cluster_id, NO_NODE, None).properties()
    (to / META_PROPERTIES).write_text("".join(f"{key}={value}\n" for key, value in meta.items()))
    start, rest = first.start, log.manifests
    if first.snapshot:
        start, rest = first.end, log.manifests[1:]
        name = checkpoint_file_name(OffsetAndEpoch(first.end, first.epoch))
        with (partition / name).open("xb") as file:
            _write_batches(file, _rows(tables, (first,), "snapshot_index"))
    with (partition / segment_file_name(start)).open("xb") as file:
        rows = _with_missing(_rows(tables, rest, "offset"), start)
        return max(start, _write_batches(file, _up_to(rows, as_of)))


def known_log_at(tables: Path, logs: list[KnownLog], as_of: PastPlace) -> KnownLog:
    """Returns the log that has the place; ExportRefusedError if none has it."""
    if not logs:
        raise ExportRefusedError(f"{tables} has no records yet")
    if as_of.offset is not None:
        for log in logs:
            if log.start_offset <= as_of.offset < log.end_offset:
                return log
        ranges = ", ".join(f"{each.start_offset} to {each.end_offset - 1}" for each in logs)
        raise ExportRefusedError(f"what was at offset {as_of.offset} is not known: the tables have {ranges}")
    if as_of.time_ms is None:
        return logs[-1]
    for log in logs:
        start_us, end_us = log.times_us(tables)
        if start_us is None or end_us is None:
            continue
        if start_us <= (as_of.time_ms + as_of.span_ms) * 1000 and as_of.time_ms * 1000 <= end_us:
            return log
    raise ExportRefusedError(
        "what was at that time is not known: it is before, after or between the records of the tables"
        " (kraftctl-export status)"
    )


def _rows(tables: Path, manifests: Iterable[Manifest], place: str) -> Iterator[Row]:
    for manifest in manifests:
        for each in manifest.files:
            if each.table == RECORDS:
                file = CheckedFile(tables / each.path)
                for group in range(file.num_row_groups):
                    yield from _rows_in(file.read_row_group(group, columns=list(COLUMNS)), place)


def _rows_in(table: pa.Table, place: str) -> Iterator[Row]:
    times = table.column("timestamp").cast(pa.int64()).to_pylist()
    columns = [table.column(name).to_pylist() for name in (place, "log_epoch")]
    columns.append([-1 if time_us is None else time_us // 1000 for time_us in times])
    columns += [
        table.column(name).to_pylist() for name in ("is_control", "type_id", "payload", "batch_offset")
    ]
    for row in zip(*columns, strict=True):
        yield Row(*row)


def _with_missing(rows: Iterator[Row], start: int) -> Iterator[Row]:
    """Fills offsets that no leader returns: a log has no gap."""
    expected = start
    for row in rows:
        for offset in range(expected, row.place):
            yield Row(offset, row.epoch, row.time_ms, False, 0, None, None)
        yield row
        expected = row.place + 1


def _up_to(rows: Iterator[Row], as_of: PastPlace) -> Iterator[Row]:
    for row in rows:
        if as_of.offset is not None and (row.place if row.batch is None else row.batch) > as_of.offset:
            return
        if as_of.time_ms is not None and row.time_ms > as_of.time_ms + as_of.span_ms:
            return
        yield row


def _write_batches(file: BinaryIO, rows: Iterator[Row]) -> int:
    """Writes rows as the batches that they were; returns the place behind the last."""
    end = 0
    for (epoch, time_ms, is_control, _), group in groupby(
        rows, lambda row: (row.epoch, row.time_ms, row.is_control, row.batch)
    ):
        for batch in _chunks(group):
            base = batch[0].place
            if is_control:
                control = [row.control for row in batch]
                file.write(encode_control_batch(base, epoch, time_ms, control))
            else:
                values = [LACKING if row.value is None else row.value for row in batch]
                file.write(encode_batch(base, epoch, time_ms, values))
            end = batch[-1].place + 1
    return end


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    chunk: list[Row] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == RECORDS_PER_BATCH_MAX:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
