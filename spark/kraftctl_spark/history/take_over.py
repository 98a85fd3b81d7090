"""Makes an output of an earlier release, with manifests and `_history.json`, one with commits.

One commit has everything. The manifests get a hidden name before it: without `_manifests`, a release that
writes them refuses the tables, however far a killed process came. They are deleted last, or the next time.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_manifest import FORMAT, OLD_MANIFEST, locked
from kraftctl_spark.stores.durable import Hook, fsync
from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.tables.commit import TAKEN_OVER, Commit, HistoryChange
from kraftctl_spark.tables.commit_log import OLD_MANIFESTS, CommitLog
from kraftctl_spark.tables.json_fields import parsed, read_as
from kraftctl_spark.tables.manifest import RESTORE, ExportRefusedError, Manifest
from kraftctl_spark.tables.output import HIDDEN_MANIFESTS, RANGE_NAME, Output
from kraftctl_spark.tables.table_files import TableFile, sha256_of

READS_AT_ONCE = 4
OLD_FORMAT = 1

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _OldHistory:
    """The content of `_history.json`; its paths begin at the directory of the history."""

    format: int
    cluster_id: str
    end: int
    decoders: tuple[str, ...]
    files: tuple[TableFile, ...]


def take_over(directory: Path, hook: Hook) -> Commit | None:
    """Returns the commit; None if the output is one of this release.

    ExportRefusedError for another directory, for damaged manifests or files, and while a process uses it.
    """
    visible, hidden = directory / OLD_MANIFESTS, directory / HIDDEN_MANIFESTS
    if not (visible.is_dir() or hidden.is_dir()):
        Output(directory).check_exists()
        return None
    history = directory / DIRECTORY
    with ExitStack() as locks:
        locks.enter_context(Output(directory).all_locked())
        if history.is_dir():
            locks.enter_context(locked(history))
        commits = CommitLog(LocalStore(directory, hook), directory, hook, takes_over=True)
        commit = None
        number = commits.state().number
        if number < 0 and visible.is_dir() and hidden.is_dir():
            raise ExportRefusedError(f"{visible} and {hidden} are both there: {RESTORE}")
        if number < 0:
            batches = tuple(_hashed_batch(directory, batch) for batch in _live(_one_of(visible, hidden)))
            change = Commit(TAKEN_OVER, batches, history=_history(directory, batches))
        if visible.is_dir() and not hidden.is_dir():
            visible.rename(hidden)
            fsync(directory)
            hook("manifests-hidden")
        if number < 0 and not change.changes_nothing:
            commit = commits.append(change)
        (history / OLD_MANIFEST).unlink(missing_ok=True)
        for old in (visible, hidden):
            _delete(old, hook)
        fsync(directory)
        return commit


def _one_of(visible: Path, hidden: Path) -> Path:
    return visible if visible.is_dir() else hidden


def _delete(old: Path, hook: Hook) -> None:
    for path in old.iterdir() if old.is_dir() else ():
        path.unlink()
        hook("manifest-removed")
    if old.is_dir():
        old.rmdir()


def _live(old: Path) -> list[Manifest]:
    """Returns the manifests that no other one replaces, in order."""
    live: list[Manifest] = []
    found = [_read(path) for path in old.glob("*.json") if RANGE_NAME.match(path.stem)]
    for manifest in sorted(found, key=lambda one: (one.start, -one.end, -one.revision)):
        position = live[-1].end if live else 0
        if manifest.end <= position:
            continue
        if manifest.start != position:
            raise ExportRefusedError(
                f"{old} is damaged: {manifest.name} does not follow on offset {position}: {RESTORE}"
            )
        live.append(manifest)
    return live


def _read(path: Path) -> Manifest:
    try:
        fields = parsed(path.read_bytes())
        if fields.pop("format", None) != OLD_FORMAT:
            raise ValueError("written by another release")
        fields.pop("lag", None)
        return read_as(Manifest, fields)
    except ValueError as error:
        raise ExportRefusedError(f"{path} is not a manifest ({error}): {RESTORE}") from error


def _hashed_batch(directory: Path, batch: Manifest) -> Manifest:
    return replace(batch, files=_hashed(directory, batch.files))


def _hashed(directory: Path, files: Iterable[TableFile]) -> tuple[TableFile, ...]:
    """Returns the files with the hashes of what they contain now; ExportRefusedError for another size."""

    def hashed(file: TableFile) -> TableFile:
        path = directory / file.path
        if not path.is_file() or path.stat().st_size != file.bytes:
            raise ExportRefusedError(f"{path} is missing or has another size: {RESTORE}")
        return replace(file, sha256=sha256_of(path))

    with ThreadPoolExecutor(READS_AT_ONCE) as pool:
        return tuple(pool.map(hashed, files))


def _history(directory: Path, batches: tuple[Manifest, ...]) -> HistoryChange | None:
    """Returns the history beside the tables; None if there is none that can be continued."""
    path = directory / DIRECTORY / OLD_MANIFEST
    try:
        fields = parsed(path.read_bytes())
        if fields.get("format") != FORMAT:
            raise ValueError("it is of another release")
        old = read_as(_OldHistory, fields)
        if not batches or old.cluster_id != batches[-1].cluster_id:
            raise ValueError("it is of other tables")
        placed = (replace(file, path=f"{DIRECTORY}/{file.path}") for file in old.files)
        return HistoryChange(
            format=FORMAT,
            cluster_id=old.cluster_id,
            start=0,
            end=old.end,
            decoders=old.decoders,
            added=_hashed(directory, placed),
            removed=(),
        )
    except FileNotFoundError:
        return None
    except (ValueError, ExportRefusedError) as error:
        log.warning("%s is not taken over (%s): it has to be computed again", path, error)
        return None
