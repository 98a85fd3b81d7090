"""Ends old snapshots of Iceberg tables, and deletes their lists of manifests and manifests.

Each publication adds a snapshot, and a commit rewrites the metadata with all of them. The data files that
only old ones have are deleted after the same time, so nothing can be read there any more.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyarrow.fs import FileSelector, FileType
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot, ancestors_of

from kraftctl_spark.publish.publication import OFFSET

EXPIRED_EVERY_MS = 86_400_000

CLOCKS_DIFFER_MS = 3_600_000
"""The clock of a store may be so far from that of a publisher."""


def expire(table: Table, *, keep_ms: int, now_ms: int) -> int:
    """Ends snapshots that are older than `keep_ms`, when the oldest is a day older; returns how many.

    Those of branches and tags stay, and the last one that has our offset.
    """
    old = list(_expired(table, now_ms - keep_ms))
    if not old or now_ms - keep_ms - min(one.timestamp_ms for one in old) < EXPIRED_EVERY_MS:
        return 0
    table.maintenance.expire_snapshots().by_ids([one.snapshot_id for one in old]).commit()
    if isinstance(table.io, PyArrowFileIO):  # Others cannot list files.
        _delete_unnamed(table, table.io)
    return len(old)


def _expired(table: Table, before_ms: int) -> Iterator[Snapshot]:
    kept = {ref.snapshot_id for ref in table.metadata.refs.values()}
    for one in ancestors_of(table.current_snapshot(), table.metadata):
        if one.summary is not None and one.summary.get(OFFSET) is not None:
            kept.add(one.snapshot_id)
            break
    for one in table.metadata.snapshots:
        if one.timestamp_ms < before_ms and one.snapshot_id not in kept:
            yield one


def _delete_unnamed(table: Table, io: PyArrowFileIO) -> None:
    """Deletes what was written before the oldest snapshot and is in none: a manifest that one snapshot has
    dropped, later ones of the same branch do not have.

    So those of the oldest one are read, and of all where others have made branches or tags.
    """
    snapshots = sorted(table.metadata.snapshots, key=lambda one: one.timestamp_ms)
    if not snapshots:
        return
    refs = {ref.snapshot_id for ref in table.metadata.refs.values()}
    first = next((one for one in snapshots if one.snapshot_id not in refs), snapshots[-1])
    named = {one.manifest_list for one in snapshots}
    for one in snapshots:
        if one is first or one.snapshot_id in refs or len(refs) > 1:
            named |= {manifest.manifest_path for manifest in one.manifests(io)}
    names = {str(path).rpartition("/")[2] for path in named}
    scheme, netloc, path = io.parse_location(f"{table.location()}/metadata")
    for file in io.fs_by_scheme(scheme, netloc).get_file_info(FileSelector(path)):
        is_old = (
            file.mtime_ns is not None and file.mtime_ns // 1_000_000 < first.timestamp_ms - CLOCKS_DIFFER_MS
        )
        is_named = file.base_name in names or not file.base_name.endswith(".avro")
        if is_old and not is_named and file.type == FileType.File:
            io.delete(f"{table.location()}/metadata/{file.base_name}")
