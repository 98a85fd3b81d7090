"""The history on disk: continued with new records of the typed tables, merged, or computed again.

A batch is one commit, made once all of its files are durable and have their names. So a killed process has
either committed a batch or not; the next one deletes its other files. Files of ended versions are only added
to, those of open versions replaced.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.cut_back import cut_back, first_not_understood, knows_too_little
from kraftctl_spark.history.damage import row_groups
from kraftctl_spark.history.history_manifest import (
    OPEN_PREFIX,
    HistoryLog,
    HistoryManifest,
)
from kraftctl_spark.history.history_state import HistoryState
from kraftctl_spark.history.known_ranges import encode_ranges
from kraftctl_spark.history.not_known import encode_not_known
from kraftctl_spark.history.open_files import OpenFiles
from kraftctl_spark.history.partitions.open_partitions import OpenPartitions
from kraftctl_spark.history.rewriting import ChangeRows, changes_in, write_again
from kraftctl_spark.history.schema import OF_THE_LOG, SCHEMAS
from kraftctl_spark.history.stored_history import history_log
from kraftctl_spark.history.version_files import VersionFiles
from kraftctl_spark.rows.collector import collector_paused
from kraftctl_spark.stores.durable import Hook, no_hook
from kraftctl_spark.tables.commit import Commit
from kraftctl_spark.tables.kept_removed import keep_ms_of
from kraftctl_spark.tables.manifest import RESTORE, ExportRefusedError, Manifest
from kraftctl_spark.tables.not_understood import decoders_of
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.output_state import raw_start
from kraftctl_spark.tables.table_files import TableFile, range_name

RECORDS_PER_COMMIT = 5_000_000
"""A killed process repeats at most this many."""

FILES_BEFORE_MERGE = 32
"""The number of files of one table, and of ended versions."""

log = logging.getLogger(__name__)


class HistoryTables:
    """The tables of versions in `output`, made from the typed tables in `tables`."""

    def __init__(
        self, tables: Path | Output, output: Path, hook: Hook = no_hook, keep_ms: int | None = None
    ) -> None:
        self._raw = tables if isinstance(tables, Output) else Output(tables, hook)
        self._tables = self._raw.sources
        self._output = output
        self._hook = hook
        self._log_read: HistoryLog | None = None
        self._wanted_keep_ms = keep_ms
        """How long replaced files are kept."""
        self._known: tuple[HistoryManifest, HistoryState] | None = None
        """The manifest that this process has committed last."""
        self._live: list[Manifest] | None = None
        """The batches of the typed tables, where they were read."""

    @staticmethod
    def beside(tables: Output, keep_ms: int | None = None) -> HistoryTables:
        """Returns the history in an open output, whose commits are read once for both."""
        return HistoryTables(tables, tables.directory / DIRECTORY, tables.hook, keep_ms)

    def catch_up(self, wait_s: float = 0) -> HistoryManifest:
        """Adds what the typed tables have more; without a history, everything.

        Raises ExportRefusedError without typed tables, when the history does not belong to these, or while
        another process writes it: HistoryBusyError, after waiting that long.
        """
        self._raw.check_exists()
        with self._changing(wait_s), self._raw.undisturbed():
            return self._raw.read(self._caught_up)

    def rebuild(self) -> HistoryManifest:
        """Computes everything again: the same files as of a history that was `merge`d."""
        self._raw.check_exists()
        with self._changing(), self._raw.undisturbed():
            self._log.read()
            return self._raw.read(self._from_the_start)

    def rebuild_within(self, raw: list[Manifest], append: Callable[[Commit], object]) -> HistoryManifest:
        """Computes everything again from batches that are not committed yet: `append` gets the change of the
        history, and commits both. The caller holds the locks of tables and history.
        """
        self._log.read()
        self._log.append = append
        return self._from_the_start(raw)

    def changes(self, change: ChangeRows) -> dict[str, int]:
        """Returns how many rows of the history change, by the paths of its files; ExportRefusedError where
        that cannot be known.
        """
        while True:
            manifest = self._log.read()
            if manifest is None:
                raise ExportRefusedError(
                    f"another release wrote {self._log.where}, and it cannot be computed again: the records "
                    f"before offset {self._raw.raw_start} have expired. Use the release that wrote it"
                )
            try:
                return changes_in(self._log.files, manifest, change)
            except FileNotFoundError as error:
                if self._log.read() == manifest:
                    raise ExportRefusedError(
                        f"{self._log.where} lacks files ({error}), and cannot be computed again: {RESTORE}"
                    ) from error

    def rewrite_within(
        self, change: ChangeRows, paths: Container[str], append: Callable[[Commit], object]
    ) -> None:
        """Writes these files of the history again, with changed rows: `append` gets the change of the
        history, and commits it. The caller holds the locks of tables and history.
        """
        manifest = self._log.read()
        assert manifest is not None
        self._log.append = append
        with VersionFiles(self._log.directory, self._hook, self._has_secrets()) as files:
            write_again(self._log.files, manifest, paths, change, files)
            written = self._log.publish(files).values()
            kept = [file for file in manifest.files if file.path not in paths]
            self._log.commit(
                HistoryManifest.of_files(
                    manifest.cluster_id, manifest.end, [*kept, *written], manifest.decoders
                )
            )

    def state_at_end(self) -> HistoryState:
        """Returns the state behind the last record of the tables. What the history lacks is computed, and not
        kept; without a history, everything.
        """
        with collector_paused():
            return self._raw.read(self._state_behind)

    def _state_behind(self, raw: list[Manifest]) -> HistoryState:
        manifest = self._log.read()
        state = HistoryState(raw[-1].cluster_id if raw else "", raw_start(raw))
        if manifest is not None and manifest.end >= state.end:
            state = HistoryState.load(self._log.files, manifest)
        for batches in _together([one for one in raw if one.end > state.end]):
            state.advance(self._tables, batches, lambda make: None)
        return state

    def merge(self) -> HistoryManifest:
        """Merges to one file per table of ended versions, and to as few as possible of open ones."""
        self._live = None
        with self._changing():
            manifest = self._log.read()
            if manifest is None or self._damaged(manifest):
                raise ExportRefusedError(f"{self._log.where} holds no complete history: compute it first")
            self._log.remove_unnamed(manifest)
            return self._merged(manifest, spare_large=False)

    def is_there(self) -> bool:
        """Returns whether there is a history of this release."""
        return self._log.read() is not None

    def has_any(self) -> bool:
        """Returns whether there is a history of whatever release, apart or in the commits of the tables."""
        return self._raw.log.state().history is not None or self._log.is_of_any_release()

    @property
    def where(self) -> str:
        """Returns the name of its place, for messages."""
        return self._log.where

    def remove_unnamed(self) -> None:
        """Deletes files that a killed process left behind; the caller has it `locked`."""
        manifest = self._log.read()
        if manifest is not None:
            self._log.remove_unnamed(manifest)

    def locked(self, wait_s: float) -> AbstractContextManager[None]:
        """Locks the history; HistoryBusyError after waiting that long for another process."""
        return self._log.locked(wait_s)

    def check_has(self, end: int) -> bool:
        """Returns whether the history has the commits of the tables; the caller has it `locked`.

        ExportRefusedError unless it is whole, up to date, and has everything before an offset.
        """
        raw, manifest = self._raw.manifests(), self._log.read()
        if manifest is None or manifest.end < end:
            goes = "is no history of this release" if manifest is None else f"ends at offset {manifest.end}"
            raise ExportRefusedError(
                f"{self._log.where} {goes}, and lacks records before offset {end}: "
                f"{self._raw.history_command} continues it. Do that first"
            )
        self._check(raw, manifest)
        why = self._outdated(raw, manifest)
        if why and first_not_understood(self._log.files, manifest, raw) >= raw_start(raw):
            raise ExportRefusedError(f"{why}: {self._raw.history_command} computes it again. Do that first")
        if damaged := self._log.damaged_file(manifest):
            again = (
                f"{self._raw.history_command} --rebuild computes it again, as long as the records are there"
            )
            raise ExportRefusedError(
                f"{damaged} is missing or damaged: {RESTORE if self._raw.is_stored else again}. Do that first"
            )
        return not self._log.is_apart

    @contextmanager
    def _changing(self, wait_s: float = 0) -> Iterator[None]:
        """Locks the history, and deletes in the end what was replaced long enough ago."""
        with self._log.locked(wait_s):
            yield
            self._log.remove_replaced(keep_ms_of(self._raw, self._wanted_keep_ms))

    @property
    def _log(self) -> HistoryLog:
        """The commits, as of the first use: whether it is beside tables is known once there are some."""
        if self._log_read is None:
            self._log_read = history_log(self._output, self._raw)
        return self._log_read

    def _has_secrets(self) -> bool:
        return any(one.secrets for one in self._raw.manifests())

    def _caught_up(self, raw: list[Manifest]) -> HistoryManifest:
        self._live = raw
        manifest = self._log.read()
        if manifest is not None and self._damaged(manifest):
            self._check_computable(raw)
            log.warning("%s lacks files: it is computed again", self._log.where)
            manifest = None
        if manifest is None:
            manifest = self._nothing(raw)
        else:
            self._check(raw, manifest)
            if why := self._outdated(raw, manifest):
                cut, gone = first_not_understood(self._log.files, manifest, raw), raw_start(raw)
                if cut < gone:
                    log.warning(
                        "%s: the history stays as it is, and what it does not know stays unknown: it would "
                        "have to be computed again from offset %d on, and the records before offset %d have "
                        "expired",
                        *(why, cut, gone),
                    )
                else:
                    log.info("%s: the history is computed again from offset %d on", why, cut)
                    if not cut:
                        return self._from_the_start(raw)
                    manifest = self._cut_back(manifest, raw, cut)
            self._log.remove_unnamed(manifest)
        for batch in _batches([one for one in raw if one.end > manifest.end]):
            manifest = self._commit_batch(manifest, batch)
        return self._merged(manifest, spare_large=True)

    def _damaged(self, manifest: HistoryManifest) -> bool:
        return self._log.lacks_files(manifest)

    def _check(self, raw: list[Manifest], manifest: HistoryManifest) -> None:
        cluster_id, end = (raw[-1].cluster_id, raw[-1].end) if raw else ("", 0)
        if cluster_id != manifest.cluster_id or end < manifest.end:
            raise ExportRefusedError(
                f"{self._log.where} is the history of cluster {manifest.cluster_id} up to offset "
                f"{manifest.end}, but {self._raw.where} has that of cluster {cluster_id or 'none'} up to "
                f"{end}: choose another directory, or compute it again with --rebuild"
            )
        if manifest.end < raw_start(raw):
            self._check_computable(raw)

    def _check_computable(self, raw: list[Manifest]) -> None:
        """Refuses to compute a history without the first records."""
        if gone := raw_start(raw):
            raise ExportRefusedError(
                f"{self._log.where} cannot be computed, or continued from an earlier offset: the records "
                f"before offset {gone} of {self._raw.where} have expired. Restore the history from a backup "
                "of a later time than that, or export to a new directory"
            )

    def _from_the_start(self, raw: list[Manifest]) -> HistoryManifest:
        """Computes all in one commit, and therefore in the files of a merged history."""
        self._live = raw
        manifest = self._commit_batch(self._nothing(raw), raw)
        self._log.remove_unnamed(manifest)
        return manifest

    def _outdated(self, raw: list[Manifest], manifest: HistoryManifest) -> str:
        """Returns why the tables say more than the history has; an empty text if they do not."""
        if not manifest.decoders <= _decoders(raw, manifest.end):
            return f"records of {self._raw.where} were decoded again"
        if self._known is None and knows_too_little(self._log.files, manifest):
            return f"an earlier release ended all of {self._log.where} at records that change some tables"
        return ""

    def _cut_back(self, before: HistoryManifest, raw: list[Manifest], cut: int) -> HistoryManifest:
        """Commits the history as it was at an earlier offset."""
        self._known = None
        with VersionFiles(self._log.directory, self._hook, self._has_secrets()) as files:
            state, replaced = cut_back(self._log.files, self._tables, before, raw, cut, files)
            return self._commit(before, state, files, range_name(0, cut - 1), replaced, everything=True)

    def _nothing(self, raw: list[Manifest]) -> HistoryManifest:
        """Returns a history before its first batch."""
        if not raw:
            raise ExportRefusedError(
                f"{self._raw.where} holds no committed batch yet: run kraftctl-export first"
            )
        self._check_computable(raw)
        self._known = None
        return HistoryManifest(raw[0].cluster_id, 0, ())

    @collector_paused()
    def _commit_batch(self, before: HistoryManifest, batch: list[Manifest]) -> HistoryManifest:
        state = self._state(before)
        name = range_name(before.end, batch[-1].end - 1)
        with VersionFiles(self._log.directory, self._hook, self._has_secrets()) as files:
            for table, schema in SCHEMAS.items():
                if table not in OF_THE_LOG and not before.of(table, still_open=False):
                    files.add(table, name, schema.empty_table())  # Every query runs, also without rows.
            for manifests in _together(batch):
                state.advance(self._tables, manifests, partial(files.add_made, name))
            return self._commit(before, state, files, name, set())

    def _state(self, manifest: HistoryManifest) -> HistoryState:
        """Returns the state of a manifest and forgets it, because it changes with the next batch."""
        known, self._known = self._known, None
        if known is not None and known[0] == manifest:
            return known[1]
        if not manifest.files:
            return HistoryState(manifest.cluster_id)
        return HistoryState.load(self._log.files, manifest)

    def _commit(
        self,
        before: HistoryManifest,
        state: HistoryState,
        files: VersionFiles,
        name: str,
        replaced: set[str],
        everything: bool = False,
    ) -> HistoryManifest:
        """Adds the files of open versions, then commits."""
        placed: list[tuple[OpenFiles | OpenPartitions, list[str]]] = []
        # All are made while the last rows are written: adding a part waits for those.
        rewritten = {
            table: one.rewrite(state.cluster_id, everything) for table, one in state.open_files.items()
        }
        for table, of_table in state.open_files.items():
            old, parts = rewritten.pop(table)
            replaced |= old
            names = [f"{OPEN_PREFIX}{name}-{number:05}" for number in range(len(parts))]
            for file_name, part in zip(names, parts, strict=True):
                files.add(table, file_name, part)
            placed.append((of_table, [f"{table}/{file_name}.parquet" for file_name in names]))
        of_the_log = (encode_ranges(state.ranges), encode_not_known(state.not_known.rows))
        for table, rows in zip(OF_THE_LOG, of_the_log, strict=True):
            replaced |= {file.path for file in before.of(table, still_open=True)}
            files.add(table, f"{OPEN_PREFIX}{name}", rows)
        by_path = self._log.publish(files)
        for of_table, paths in placed:
            of_table.place(by_path[path].path for path in paths)
        published = list(by_path.values())
        replaced |= {file.path for file in published}
        kept = [file for file in before.files if file.path not in replaced]
        decoders = before.decoders if self._live is None else _decoders(self._live, state.end)
        manifest = HistoryManifest.of_files(state.cluster_id, state.end, kept + published, decoders)
        self._log.commit(manifest)
        self._known = manifest, state
        return manifest

    def _merged(self, manifest: HistoryManifest, spare_large: bool) -> HistoryManifest:
        runs = {table: self._run(manifest, table, spare_large) for table in SCHEMAS}
        if not any(runs.values()):
            return manifest
        state = self._state(manifest)
        with VersionFiles(self._log.directory, self._hook, self._has_secrets()) as files:
            replaced: set[str] = set()
            for table, run in runs.items():
                for file in run:
                    name = f"{Path(run[0].path).stem[:20]}-{manifest.end - 1:020}"
                    for group in row_groups(self._log.files / file.path):
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
    return frozenset(name for one in manifests if one.start < end for name in decoders_of(one))


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
