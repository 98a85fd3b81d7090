"""A history as it was at an earlier offset: what began later is gone, and what ended later is open again.

The versions that were open at an offset are the whole state there (docs/adr/0012): a history has the state of
each offset in its tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_protocol.record_types import RECORD_TYPES_BY_NAME
from kraftctl_spark.history.damage import open_file, read_file
from kraftctl_spark.history.history_manifest import HistoryManifest
from kraftctl_spark.history.history_state import HistoryState, loaded_state
from kraftctl_spark.history.known_ranges import KnownRange, decode_ranges
from kraftctl_spark.history.not_known import NotKnown, NotKnownRows, decode_not_known
from kraftctl_spark.history.raw_records import last_time_us, time_before_us
from kraftctl_spark.history.schema import EVENTS, KNOWN_RANGES, NOT_KNOWN, OF_THE_LOG, SCHEMAS
from kraftctl_spark.history.version_files import VersionFiles
from kraftctl_spark.history.versions.quarantine import NOT_SET
from kraftctl_spark.tables.checked_file import Sources
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.not_understood import NEW_FIELDS, NEW_VERSION
from kraftctl_spark.tables.table_files import TableFile

_ENDS = ("valid_to_offset", "valid_to_time", "ended_by")


def first_not_understood(output: Sources, manifest: HistoryManifest, raw: Sequence[Manifest]) -> int:
    """Returns the offset up to which a history does not depend on what was not understood, in its log.

    0: it has to be computed from the start. So it is where a record about something that was never set is
    counted before and behind that offset.
    """
    rows = _not_known(output, manifest)
    starts = [row.start_offset for row in rows if row.reason != NOT_SET]
    if not starts:
        return 0
    cut = min(starts)
    for batch in raw:
        new_fields = any(row.reason == NEW_FIELDS and row.start_offset in _span(batch) for row in rows)
        if (batch.snapshot or new_fields) and cut in _span(batch):
            cut = batch.start  # All of it was decoded again, or is one state.
    earlier = [row for row in rows if row.start_offset < cut]
    return 0 if any(row.end_offset is None or row.end_offset >= cut for row in earlier) else cut


def knows_too_little(output: Sources, manifest: HistoryManifest) -> bool:
    """Returns whether an earlier release ended everything at a record that changes only some tables."""
    types = {
        row.subject.partition(" version ")[0]
        for row in _not_known(output, manifest)
        if row.reason == NEW_VERSION and row.history_table is None
    }
    return any(name in RECORD_TYPES_BY_NAME and RECORD_TYPES_BY_NAME[name].table for name in types)


def cut_back(
    output: Sources,
    tables: Sources,
    manifest: HistoryManifest,
    raw: Sequence[Manifest],
    cut: int,
    files: VersionFiles,
) -> tuple[HistoryState, set[str]]:
    """Returns the state at an offset, and the files to remove; adds those with the rest of these rows."""
    replaced: set[str] = set()
    still_open: dict[str, pa.Table] = {}
    for table in SCHEMAS:
        if table in OF_THE_LOG:
            continue
        reopened = []
        for file in manifest.of(table, still_open=True):
            reopened.append(_open_at(read_file(output / file.path), cut))
            replaced.add(file.path)
        for file in manifest.of(table, still_open=False):
            if _last_offset(file) >= cut:
                reopened += _rewritten(output, file, cut, files)
                replaced.add(file.path)
        still_open[table] = pa.concat_tables([SCHEMAS[table].empty_table(), *reopened])
    not_known = [row for row in _not_known(output, manifest) if row.start_offset < cut]
    state = loaded_state(
        manifest.cluster_id,
        cut,
        {table: [("", rows)] for table, rows in still_open.items() if table != EVENTS},
        _ranges(output, tables, manifest, raw, cut),
        NotKnownRows(manifest.cluster_id, not_known),
    )
    return state, replaced


def _rewritten(output: Sources, file: TableFile, cut: int, files: VersionFiles) -> list[pa.Table]:
    """Adds the rows that had ended by then to a file of their own; returns those that had not."""
    first = Path(file.path).stem[:20]
    name = f"{first}-{cut - 1:020}"
    source, reopened = open_file(output / file.path), []
    if int(first) < cut:
        files.add(file.table, name, SCHEMAS[file.table].empty_table())  # Every query runs, also without rows.
    for group in range(source.num_row_groups):
        rows = source.read_row_group(group)
        if file.table == EVENTS:
            ended = rows.filter(pc.less(rows.column("offset"), cut))
        else:
            ended = rows.filter(pc.less(rows.column("valid_to_offset"), cut))
            reopened.append(_open_at(rows, cut))
        if ended.num_rows:
            files.add(file.table, name, ended)
    return reopened


def _open_at(rows: pa.Table, cut: int) -> pa.Table:
    """Returns the versions that were open before an offset, as they were then."""
    ends = pc.fill_null(pc.greater_equal(rows.column("valid_to_offset"), cut), True)
    found = rows.filter(pc.and_(pc.less(rows.column("valid_from_offset"), cut), ends))
    for name in _ENDS:
        place = found.schema.get_field_index(name)
        found = found.set_column(
            place, found.schema.field(place), pa.nulls(len(found), found.column(name).type)
        )
    return found


def _ranges(
    output: Sources, tables: Sources, manifest: HistoryManifest, raw: Sequence[Manifest], cut: int
) -> list[KnownRange]:
    rows = [row for row in _of_the_log(output, manifest, KNOWN_RANGES) for row in decode_ranges(row)]
    found = [one for one in rows if one.start_offset < cut]
    last = found[-1]
    if last.end_offset > cut:
        last.end_offset = cut
        before = [one for one in raw if one.start < cut and one.end > last.start_offset]
        times = (
            last_time_us(tables, one) if one.snapshot else time_before_us(tables, one, cut)
            for one in reversed(before)
        )
        last.end_time_us = next((time_us for time_us in times if time_us is not None), None)
    return found


def _not_known(output: Sources, manifest: HistoryManifest) -> list[NotKnown]:
    return [row for rows in _of_the_log(output, manifest, NOT_KNOWN) for row in decode_not_known(rows)]


def _of_the_log(output: Sources, manifest: HistoryManifest, table: str) -> Iterable[pa.Table]:
    return [read_file(output / file.path) for file in manifest.of(table, still_open=True)]


def _last_offset(file: TableFile) -> int:
    return int(Path(file.path).stem[21:41])


def _span(batch: Manifest) -> range:
    return range(batch.start, batch.end)
