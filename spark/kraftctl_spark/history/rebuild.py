"""All tables of versions, computed anew from the typed tables: the same rows always give the same bytes.

Files get their names once all are complete and durable. Then the manifest is renamed into place: the commit.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kraftctl_spark.history.kinds import KINDS
from kraftctl_spark.history.raw_records import first_time_us, last_time_us, records_of
from kraftctl_spark.history.schema import KNOWN_RANGES, KNOWN_RANGES_SCHEMA, encode_rows, encode_versions
from kraftctl_spark.history.stage import HistoryStage, Record
from kraftctl_spark.history.version_files import VersionFiles
from kraftctl_spark.history.versions import Version
from kraftctl_spark.tables.durable import TEMPORARY_SUFFIX, Hook, make_directory, no_hook, write_whole
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest, Output
from kraftctl_spark.tables.table_files import TableFile, range_name

MANIFEST = "_history.json"
LOCK = "_history_lock"
FORMAT = 1
RECORDS_PER_STEP = 50_000
"""How many records are applied before what they closed is written."""


def rebuild(tables: Path, output: Path, hook: Hook = no_hook) -> dict[str, int]:
    """Rows by table. ExportRefusedError without typed tables, or while another process rebuilds."""
    raw = Output(tables)
    raw.check_exists()
    make_directory(output)
    with _locked(output), raw.undisturbed():
        files, end, cluster_id = raw.read(lambda manifests: _written(tables, manifests, output, hook))
        manifest = {
            "format": FORMAT,
            "cluster_id": cluster_id,
            "end": end,
            "files": [file.to_dict() for file in files],
        }
        write_whole(output / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode(), hook)
        hook("manifest-committed")
        _remove_others(output, {file.path for file in files})
    return {file.table: file.rows for file in files}


@contextmanager
def _locked(output: Path) -> Iterator[None]:
    with (output / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ExportRefusedError(f"another process rebuilds the history in {output}") from None
        yield


def _written(
    tables: Path, manifests: list[Manifest], output: Path, hook: Hook
) -> tuple[list[TableFile], int, str]:
    if not manifests:
        raise ExportRefusedError(f"{tables} holds no committed batch yet: run kraftctl-export first")
    end, cluster_id = manifests[-1].end, manifests[-1].cluster_id
    stage = HistoryStage()
    with VersionFiles(output, range_name(0, end - 1), hook) as files:
        ranges: list[list[object]] = []
        for number, manifest in enumerate(manifests):
            if manifest.snapshot or not ranges:
                if number:
                    stage.end_at_gap(manifest.start, last_time_us(tables, manifests[number - 1]))
                ranges.append(_range_start(tables, manifest))
            _apply(stage, records_of(tables, manifest), files, cluster_id)
            ranges[-1][3:] = [manifest.end, last_time_us(tables, manifest), cluster_id]
        _write(stage.take_closed(), files, cluster_id)
        _write(stage.still_open(), files, cluster_id)
        files.add(KNOWN_RANGES, encode_rows(KNOWN_RANGES_SCHEMA, [tuple(one) for one in ranges]))
        return files.publish(), end, cluster_id


def _range_start(tables: Path, manifest: Manifest) -> list[object]:
    """The first offset at which the state is known; of a snapshot, the last one that it contains."""
    if manifest.snapshot:
        return [manifest.end - 1, last_time_us(tables, manifest), True]
    return [manifest.start, first_time_us(tables, manifest), False]


def _apply(stage: HistoryStage, records: Iterator[Record], files: VersionFiles, cluster_id: str) -> None:
    """In steps: what is closed does not stay in memory."""
    step: list[Record] = []
    for record in records:
        step.append(record)
        if len(step) == RECORDS_PER_STEP:
            stage.apply(step)
            _write(stage.take_closed(), files, cluster_id)
            step = []
    stage.apply(step)


def _write(versions: dict[str, list[Version]], files: VersionFiles, cluster_id: str) -> None:
    for kind in KINDS:
        files.add(kind.name, encode_versions(kind, versions[kind.name], cluster_id))


def _remove_others(output: Path, named: set[str]) -> None:
    """Files of earlier histories, and of rebuilds that were killed."""
    for table in (*(kind.name for kind in KINDS), KNOWN_RANGES):
        for path in sorted((output / table).iterdir()):
            ours = path.suffix in (".parquet", TEMPORARY_SUFFIX)
            if ours and str(path.relative_to(output)) not in named:
                path.unlink()
