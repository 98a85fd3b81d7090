"""The offset of a place in the past: of a time, or of an offset that is within a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history.expired_point import expired_offset, expired_time
from kraftctl_spark.history.log_files import PastPlace, known_log_at, known_logs
from kraftctl_spark.history.raw_records import last_time_us, time_before_us
from kraftctl_spark.rows.tables import RECORDS
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.output_state import raw_start

PLACE = ("offset", "timestamp", "batch_offset")


@dataclass(frozen=True)
class PastPoint:
    """The last offset that counts, and its time; None where it has no date."""

    offset: int
    time_us: int | None


def past_point(
    tables: Path, manifests: Sequence[Manifest], as_of: PastPlace, history: Path | None = None
) -> PastPoint:
    """Returns the point of a place: a batch counts as a whole, because no node was ever within one.

    Where records have expired, it is a point of the `history` with the same state. ExportRefusedError for a
    place that the tables do not have.
    """
    if history is not None and _has_expired(tables, manifests, as_of):
        if as_of.offset is not None:
            return PastPoint(*expired_offset(history, as_of.offset))
        assert as_of.time_ms is not None
        return PastPoint(*expired_time(history, as_of.time_ms * 1000, _last_us(as_of)))
    log = known_log_at(tables, known_logs(manifests), as_of)
    for manifest in reversed(log.manifests):
        if manifest.snapshot:
            return PastPoint(manifest.end - 1, last_time_us(tables, manifest))
        found = _last(tables, manifest, as_of)
        if found is not None:
            return PastPoint(found, time_before_us(tables, manifest, found + 1))
    raise AssertionError(f"{as_of} is in {log.start_offset} to {log.end_offset - 1}")


def _has_expired(tables: Path, manifests: Sequence[Manifest], as_of: PastPlace) -> bool:
    if as_of.offset is not None:
        return as_of.offset < raw_start(manifests)
    if as_of.time_ms is None or not raw_start(manifests):
        return False
    first_us, _ = known_logs(manifests)[0].times_us(tables)
    return first_us is None or first_us > _last_us(as_of)


def _last_us(as_of: PastPlace) -> int:
    assert as_of.time_ms is not None
    return (as_of.time_ms + as_of.span_ms) * 1000 + 999


def _last(tables: Path, manifest: Manifest, as_of: PastPlace) -> int | None:
    if as_of.offset is None and as_of.time_ms is None:
        return manifest.end - 1
    if as_of.offset is not None and manifest.start > as_of.offset:
        return None
    found: int | None = None
    for each in manifest.files:
        if each.table == RECORDS:
            file = CheckedFile(tables / each.path)
            for group in range(file.num_row_groups):
                last = pc.max(_that_count(file.read_row_group(group, columns=list(PLACE)), as_of)).as_py()
                found = found if last is None else last
    return found


def _that_count(rows: pa.Table, as_of: PastPlace) -> pa.ChunkedArray:
    offsets = rows.column("offset")
    if as_of.offset is not None:
        begun = pc.coalesce(rows.column("batch_offset"), offsets)
        return offsets.filter(pc.less_equal(begun, as_of.offset))
    times = pc.fill_null(rows.column("timestamp").cast(pa.int64()), -(2**63))
    return offsets.filter(pc.less_equal(times, _last_us(as_of)))
