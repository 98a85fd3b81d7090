"""The history on disk: continued with new records of the typed tables, merged, or computed again.

A commit is the rename of `_history.json`, once all of its files are durable and have their names. So a
killed process has either committed a batch or not; the next one deletes its other files. Files of ended
versions are only added to, those of open versions replaced.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa

from kraftctl_spark.history.cut_back import cut_back, first_not_understood, knows_too_little
from kraftctl_spark.history.damage import open_file
from kraftctl_spark.history.history_manifest import (
    OPEN_PREFIX,
    HistoryManifest,
    commit,
    locked,
    read_manifest,
    remove_unnamed,
)
from kraftctl_spark.history.history_state import HistoryState
from kraftctl_spark.history.known_ranges import encode_ranges
from kraftctl_spark.history.not_known import encode_not_known
from kraftctl_spark.history.schema import OF_THE_LOG, SCHEMAS
from kraftctl_spark.history.version_files import VersionFiles
from kraftctl_spark.rows.collector import collector_paused
from kraftctl_spark.tables.durable import Hook, no_hook
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest, Output
from kraftctl_spark.tables.not_understood import NOT_UNDERSTOOD
from kraftctl_spark.tables.table_files import TableFile, range_name

RECORDS_PER_COMMIT = 5_000_000
"""A killed process repeats at most this many."""

FILES_BEFORE_MERGE = 32
"""The number of files of one table, and of ended versions."""

log = logging.getLogger(__name__)


class HistoryTables:
    """The tables of versions in `output`, made from the typed tables in `tables`."""

    def __init__(self, tables: Path, output: Path, hook: Hook = no_hook) -> None:
        self._raw = Output(tables)
        self._tables = tables
        self._output = output
        self._hook = hook
        self._known: tuple[HistoryManifest, HistoryState] | None = None
        """The manifest that this process has committed last."""
        self._live: list[Manifest] | None = None
        """The batches of the typed tables, where they were read."""

    def catch_up(self, wait_s: float = 0) -> HistoryManifest:
        """Adds what the typed tables have more; without a history, everything.

        Raises ExportRefusedError without typed tables, when the history does not belong to these, or while
        another process writes it: HistoryBusyError, after waiting that long.
        """
        self._raw.check_exists()
        with locked(self._output, wait_s), self._raw.undisturbed():
            return self._raw.read(self._caught_up)

    def rebuild(self) -> HistoryManifest:
        """Computes everything again: the same files as of a history that was `merge`d."""
        self._raw.check_exists()
        with locked(self._output), self._raw.undisturbed():
            return self._raw.read(self._from_the_start)

    def merge(self) -> HistoryManifest:
        """Merges to one file per table of ended versions, and to as few as possible of open ones."""
        self._live = None
        with locked(self._output):
            manifest = read_manifest(self._output)
            if manifest is None or self._damaged(manifest):
                raise ExportRefusedError(f"{self._output} holds no complete history: compute it first")
            remove_unnamed(self._output, manifest, self._hook)
            return self._merged(manifest, spare_large=False)

    def _has_secrets(self) -> bool:
        return any(one.secrets for one in self._raw.manifests())

    def _caught_up(self, raw: list[Manifest]) -> HistoryManifest:
        self._live = raw
        manifest = read_manifest(self._output)
        if manifest is not None and self._damaged(manifest):
            log.warning("%s lacks files: it is computed again", self._output)
            manifest = None
        if manifest is None:
            manifest = self._nothing(raw)
        else:
            self._check(raw, manifest)
            if why := self._outdated(raw, manifest):
                cut = first_not_understood(self._output, manifest, raw)
                log.info("%s: the history is computed again from offset %d on", why, cut)
                if not cut:
                    return self._from_the_start(raw)
                manifest = self._cut_back(manifest, raw, cut)
            remove_unnamed(self._output, manifest, self._hook)
        for batch in _batches([one for one in raw if one.end > manifest.end]):
            manifest = self._commit_batch(manifest, batch)
        return self._merged(manifest, spare_large=True)

    def _damaged(self, manifest: HistoryManifest) -> bool:
        paths = [(self._output / file.path, file.bytes) for file in manifest.files]
        return any(not path.is_file() or path.stat().st_size != size for path, size in paths)

    def _check(self, raw: list[Manifest], manifest: HistoryManifest) -> None:
        cluster_id, end = (raw[-1].cluster_id, raw[-1].end) if raw else ("", 0)
        if cluster_id != manifest.cluster_id or end < manifest.end:
            raise ExportRefusedError(
                f"{self._output} is the history of cluster {manifest.cluster_id} up to offset "
                f"{manifest.end}, but {self._tables} has that of cluster {cluster_id or 'none'} up to {end}: "
                "choose another directory, or compute it again with --rebuild"
            )

    def _from_the_start(self, raw: list[Manifest]) -> HistoryManifest:
        """Computes all in one commit, and therefore in the files of a merged history."""
        self._live = raw
        return self._commit_batch(self._nothing(raw), raw)

    def _outdated(self, raw: list[Manifest], manifest: HistoryManifest) -> str:
        """Returns why the tables say more than the history has; an empty text if they do not."""
        if not manifest.decoders <= _decoders(raw, manifest.end):
            return f"records of {self._tables} were decoded again"
        if self._known is None and knows_too_little(self._output, manifest):
            return f"an earlier release ended everything in {self._output} at records that change some tables"
        return ""

    def _cut_back(self, before: HistoryManifest, raw: list[Manifest], cut: int) -> HistoryManifest:
        """Commits the history as it was at an earlier offset."""
        self._known = None
        with VersionFiles(self._output, self._hook, self._has_secrets()) as files:
            state, replaced = cut_back(self._output, self._tables, before, raw, cut, files)
            return self._commit(before, state, files, range_name(0, cut - 1), replaced, everything=True)

    def _nothing(self, raw: list[Manifest]) -> HistoryManifest:
        """Returns a history before its first batch."""
        if not raw:
            raise ExportRefusedError(
                f"{self._tables} holds no committed batch yet: run kraftctl-export first"
            )
        self._known = None
        return HistoryManifest(raw[0].cluster_id, 0, ())

    @collector_paused()
    def _commit_batch(self, before: HistoryManifest, batch: list[Manifest]) -> HistoryManifest:
        state = self._state(before)
        name = range_name(before.end, batch[-1].end - 1)
        with VersionFiles(self._output, self._hook, self._has_secrets()) as files:
            for manifests in _together(batch):
                state.advance(self._tables, manifests, partial(files.add_made, name))
            for table, schema in SCHEMAS.items():
                if table not in OF_THE_LOG and not before.of(table, still_open=False):
                    files.add(table, name, schema.empty_table())  # Every query runs, also without rows.
            return self._commit(before, state, files, name, set())

    def _state(self, manifest: HistoryManifest) -> HistoryState:
        """Returns the state of a manifest and forgets it, because it changes with the next batch."""
        known, self._known = self._known, None
        if known is not None and known[0] == manifest:
            return known[1]
        if not manifest.files:
            return HistoryState(manifest.cluster_id)
        return HistoryState.load(self._output, manifest)

    def _commit(
        self,
        before: HistoryManifest,
        state: HistoryState,
        files: VersionFiles,
        name: str,
        replaced: set[str],
        everything: bool = False,
    ) -> HistoryManifest:
        """Adds the files of open versions, then the manifest; then deletes what was replaced."""
        for table, of_table in state.open_files.items():
            old, parts = of_table.rewrite(state.cluster_id, everything)
            replaced |= old
            names = [f"{OPEN_PREFIX}{name}-{number:05}" for number in range(len(parts))]
            for file_name, part in zip(names, parts, strict=True):
                files.add(table, file_name, part)
            of_table.place(f"{table}/{file_name}.parquet" for file_name in names)
        of_the_log = (encode_ranges(state.ranges), encode_not_known(state.not_known.rows))
        for table, rows in zip(OF_THE_LOG, of_the_log, strict=True):
            replaced |= {file.path for file in before.of(table, still_open=True)}
            files.add(table, f"{OPEN_PREFIX}{name}", rows)
        published = files.publish()
        replaced |= {file.path for file in published}
        kept = [file for file in before.files if file.path not in replaced]
        decoders = before.decoders if self._live is None else _decoders(self._live, state.end)
        manifest = HistoryManifest.of_files(state.cluster_id, state.end, kept + published, decoders)
        commit(self._output, manifest, self._hook)
        remove_unnamed(self._output, manifest, self._hook)
        self._known = manifest, state
        return manifest

    def _merged(self, manifest: HistoryManifest, spare_large: bool) -> HistoryManifest:
        runs = {table: self._run(manifest, table, spare_large) for table in SCHEMAS}
        if not any(runs.values()):
            return manifest
        state = self._state(manifest)
        with VersionFiles(self._output, self._hook, self._has_secrets()) as files:
            replaced: set[str] = set()
            for table, run in runs.items():
                for file in run:
                    name = f"{Path(run[0].path).stem[:20]}-{manifest.end - 1:020}"
                    for group in _row_groups(self._output / file.path):
                        files.add(table, name, group)
                    replaced.add(file.path)
            return self._commit(
                manifest, state, files, range_name(0, manifest.end - 1), replaced, everything=not spare_large
            )

    def _run(self, manifest: HistoryManifest, table: str, spare_large: bool) -> list[TableFile]:
        """Returns the last files of a table that are worth merging: not one that is larger than all
        after it.
        """
        run = sorted(manifest.of(table, still_open=False), key=lambda file: file.path)
        if not spare_large:
            return run
        if len(run) < FILES_BEFORE_MERGE:
            return []
        while len(run) > 1 and run[0].rows > sum(file.rows for file in run[1:]):
            del run[0]
        return run if len(run) > 1 else []


def _decoders(manifests: list[Manifest], end: int) -> frozenset[str]:
    """Returns the decoders of batches before an offset that have something which was not understood."""
    return frozenset(
        one.decoder
        for one in manifests
        if one.start < end and any(one.counts.get(name) for name in NOT_UNDERSTOOD)
    )


def _batches(manifests: list[Manifest]) -> Iterator[list[Manifest]]:
    """Yields consecutive ones, as many as one commit takes."""
    batch: list[Manifest] = []
    for manifest in manifests:
        batch.append(manifest)
        if sum(one.counts["records"] for one in batch) >= RECORDS_PER_COMMIT:
            yield batch
            batch = []
    if batch:
        yield batch


def _together(batch: list[Manifest]) -> Iterator[list[Manifest]]:
    """Groups batches, and leaves each snapshot alone: a step takes 10 ms, however few records it has."""
    together: list[Manifest] = []
    for manifest in batch:
        if together and (manifest.snapshot or together[-1].snapshot):
            yield together
            together = []
        together.append(manifest)
    if together:
        yield together


def _row_groups(path: Path) -> Iterator[pa.Table]:
    file = open_file(path)
    if not file.num_row_groups:
        yield file.schema.empty_table()
    for group in range(file.num_row_groups):
        yield file.read_row_group(group)
