"""Tables in an object store, which has no locks and no rename: the number of the next commit is the lock.

A second exporter is not noticed before it commits: one of the two loses that number, finds that its batch
does not follow any more, and ends. What it has uploaded is named by no commit.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.stores.durable import Hook, no_hook, temporary_path
from kraftctl_spark.stores.object_store import ObjectStore
from kraftctl_spark.tables import HISTORY_DIRECTORY
from kraftctl_spark.tables.commit import BATCH, Commit
from kraftctl_spark.tables.commit_log import COMMITS, CommitLog, commit_name, state_name
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest
from kraftctl_spark.tables.nested_outputs import check_alone
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.output_state import OutputState
from kraftctl_spark.tables.table_files import StagedFile, TableFile
from kraftctl_spark.tables.uploads import (
    ATTEMPT_SECONDS_MAX,
    LEFTOVER_SECONDS,
    began_at,
    one_of_each_attempt,
    upload,
)

REQUESTS_TOGETHER = 16


class TooOldError(ExportRefusedError):
    """The files of a commit may be gone before it is made."""


class StoredOutput(Output):
    """Tables below the prefix of a store. `directory` is a local one, for files on their way there."""

    def __init__(self, store: ObjectStore, directory: Path, hook: Hook = no_hook) -> None:
        super().__init__(directory, hook, log=CommitLog(store, store.url, hook), sources=store)
        self._objects = store
        self._pending: set[str] = set()
        """What this process has uploaded, or got from its tasks, and not tried to commit."""

    @property
    def where(self) -> str:
        return self._objects.url

    @property
    def is_stored(self) -> bool:
        return True

    def check_exists(self) -> None:
        if self.log.state().number < 0:
            raise ExportRefusedError(f"{self.where} holds no tables of kraftctl-export")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Checks that the commits are there, and no others. Nothing is locked: see above.

        An export that was killed before its first commit has left files, too, but no old ones.
        """
        is_new = self.log.state().number < 0
        check_alone(self._objects, is_new=is_new)
        if is_new and self._old_files(set()):
            raise ExportRefusedError(
                f"{self.where} holds files of an export, but no {COMMITS}: restore these from a backup, or "
                "choose another prefix"
            )
        yield

    @contextmanager
    def all_locked(self) -> Iterator[None]:
        yield

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        yield

    @contextmanager
    def compacting(self, wait: bool) -> Iterator[bool]:
        yield True

    def publish(self, staged: Iterable[StagedFile]) -> tuple[TableFile, ...]:
        """Uploads what this process has written; tasks have uploaded theirs."""
        every = list(staged)
        here = [one for one in every if one.temporary != one.file.path]
        done = [one for one in every if one.temporary == one.file.path]
        self._check_uploaded(one_of_each_attempt(done))
        done += upload(self._objects, self.directory, here, self.hook)
        self._pending.update(one.file.path for one in done)
        return tuple(one.file for one in done)

    def _check_uploaded(self, some: Sequence[StagedFile]) -> None:
        """Refuses to commit what a worker has uploaded elsewhere."""
        with ThreadPoolExecutor(REQUESTS_TOGETHER) as pool:
            sizes = list(pool.map(lambda one: self._objects.size(one.file.path), some))
        for one, size in zip(some, sizes, strict=True):
            if size != one.file.bytes:
                raise ExportRefusedError(
                    f"{self.where} lacks {one.file.path}, which a worker has uploaded: give workers the same "
                    "account, endpoint and region as the driver, for example by spark.executorEnv"
                )

    def discard(self, staged: Iterable[StagedFile]) -> None:
        self._objects.delete(one.temporary for one in staged)

    def apply(self, change: Commit) -> Commit:
        try:
            return super().apply(change)
        except ExportRefusedError as error:
            if change.kind != BATCH or isinstance(error, TooOldError):
                raise
            state = self.log.state()
            raise ExportRefusedError(
                f"another process writes to {self.where}: its commit {state.number} has the offsets up to "
                f"{state.end - 1} ({error}). Stop one of the two, or choose another prefix"
            ) from error

    @contextmanager
    def committing(self, paths: Iterable[str]) -> Iterator[None]:
        """Deletes files only after a refusal: any other error may be that of a commit that names them.

        TooOldError for files that another process may take for leftovers.
        """
        added = set(paths)
        oldest = min((began_at(path) or 0 for path in added), default=int(time.time()))
        if time.time() - oldest > ATTEMPT_SECONDS_MAX:
            raise TooOldError(
                f"files of {self.where} were uploaded more than {ATTEMPT_SECONDS_MAX // 3_600} hours before "
                "their commit, and may be deleted as leftovers: start again, with a lower "
                "--max-offsets-per-trigger"
            )
        ours = self._pending.intersection(added)
        self._pending -= ours
        try:
            yield
        except ExportRefusedError:
            self._pending |= ours
            raise

    def fetch_all(self) -> None:
        """Downloads commits and live files to `directory`, which is then an output of its own."""
        while True:
            state = self.log.state().copy()  # Commits and files are those of one moment.
            try:
                return self._fetch(state)
            except FileNotFoundError:
                if self.log.state().number == state.number:
                    raise

    def _fetch(self, state: OutputState) -> None:
        """Downloads live files, the newest state and the commits behind it. All commits become too many."""
        history = [] if state.history is None else list(state.history.files)
        names = [*(file.path for one in state.batches for file in one.files), *history]
        kept = self.log.newest_kept(state.number)
        if kept >= 0:
            names.append(state_name(kept))
        with ThreadPoolExecutor(REQUESTS_TOGETHER) as pool:
            list(pool.map(self._fetch_one, names))
            list(pool.map(self._fetch_one, map(commit_name, range(max(kept, 0), state.number + 1))))

    def _fetch_one(self, name: str) -> None:
        target = self.directory / name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            unfinished = temporary_path(target)
            self._objects.fetch_to(name, unfinished)
            unfinished.replace(target)

    def _make_durable(self, files: Iterable[TableFile]) -> None:
        """Does nothing: an upload is durable."""

    def _damaged_file(self) -> tuple[Manifest, TableFile] | None:
        """Looks for missing ones: an object is there as a whole or not."""
        live = self.manifests()
        there = set(self._files_in({file.path.rpartition("/")[0] for one in live for file in one.files}))
        gone = ((one, file) for one in live for file in one.files if file.path not in there)
        return next(gone, None)

    def remove_leftovers(self) -> int:
        """Deletes what this process has not committed, and what attempts left that are too old to be."""
        return self.remove_merge_leftovers() + self.remove_old_uploads()

    def remove_old_uploads(self) -> int:
        left = self._old_files(self._named())
        self._objects.delete(left)
        return len(left)

    def young_uploads(self) -> int:
        named = self._named()
        return len(self._unnamed(named)) - len(self._old_files(named))

    def _named(self) -> set[str]:
        """Returns the files that commits name; readers may still need those that were replaced."""
        state = self.log.state()
        named = {file.path for one in state.batches for file in one.files}
        named.update(() if state.history is None else state.history.files)
        named.update(path for one in state.removed for path in one.paths)
        return named

    def _old_files(self, named: set[str]) -> list[str]:
        """Returns the files without a name in `named` of attempts that will not be committed any more."""
        oldest = time.time() - LEFTOVER_SECONDS
        return [name for name, at in self._unnamed(named).items() if at < oldest]

    def _unnamed(self, named: set[str]) -> dict[str, int]:
        """Returns when the attempts began of files without a name in `named`."""
        began = {name: began_at(name) for name in self._our_files() if name not in named}
        return {name: at for name, at in began.items() if at is not None}

    def _our_files(self) -> list[str]:
        """Returns what is in directories of our tables and of the history. Others may be of other outputs."""
        tables = [one for one in self._objects.entries("").directories if one in table_schemas()]
        history = self._objects.entries(HISTORY_DIRECTORY).directories
        return self._files_in([*tables, *(one for one in history if Path(one).name not in table_schemas())])

    def _files_in(self, directories: Iterable[str]) -> list[str]:
        """Returns what is directly in them. Below, there may be a log of Delta, which grows."""
        with ThreadPoolExecutor(REQUESTS_TOGETHER) as pool:
            return [name for one in pool.map(self._objects.entries, directories) for name in one.files]

    def remove_merge_leftovers(self) -> int:
        """Deletes what this process has uploaded and not committed."""
        pending = list(self._pending)
        self._objects.delete(pending)
        self._pending.clear()
        return len(pending)

    def _delete(self, paths: Iterable[str]) -> int:
        some = list(paths)
        self._objects.delete(some)
        self.hook("files-removed")
        return len(some)
