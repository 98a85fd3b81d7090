"""Checks an output against its commits: that nothing was changed, removed or added behind their back.

The commits are a chain of hashes, and have the hash of each file: the hash of one commit is that of all that
is before it. What this cannot notice is that the end of the chain was cut, or replaced, unless number and
hash of a commit from there were written down elsewhere.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from kraftctl_protocol.counted_text import counted, one_or_many
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.stores.store import Store
from kraftctl_spark.tables.commit import Commit, hash_of
from kraftctl_spark.tables.commit_log import (
    COMMITS,
    STATES,
    commit_name,
    number_of,
    numbers_in,
    state_name,
)
from kraftctl_spark.tables.manifest import RESTORE
from kraftctl_spark.tables.output_state import DoesNotApplyError, OutputState
from kraftctl_spark.tables.table_files import TableFile
from kraftctl_spark.tables.uploads import LEFTOVER_SECONDS, began_at

DELTA_LOG: Final = "_delta_log"
"""Delta's own directory in that of a published table; it has Parquet files, too."""

READS_AT_ONCE = 4
"""Hashing leaves Python to other threads meanwhile."""


def hash_and_size(store: Store, name: str) -> tuple[str, int]:
    """Returns hash and size of a file; FileNotFoundError for a missing one."""
    with TemporaryDirectory(prefix="kraftctl-export-") as directory:
        path = Path(directory) / "file"
        if isinstance(store, LocalStore):
            path = store.root / name
        else:
            store.fetch_to(name, path)
        with path.open("rb", buffering=0) as opened:
            return file_digest(opened, "sha256").hexdigest(), opened.tell()


@dataclass
class Verified:
    """What was found. The number is -1 without any commit."""

    number: int = -1
    sha256: str = ""
    """The hash of the last commit: it is that of everything."""
    files: int = 0
    bytes: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was not checked, or is not finished."""


def verify(output: Path | Store, at: int | None = None, sha256: str | None = None) -> Verified:
    """Reads every commit and every live file; with a number and a hash, compares that commit with these."""
    store = LocalStore(output) if isinstance(output, Path) else output
    return _Verification(store).run(at, sha256)


class _Verification:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._found = Verified()
        self._state = OutputState()
        self._hashes: dict[int, str] = {}
        self._states: dict[int, str] = {}
        self._not_added_up_to: list[int] = []
        self._replaced: dict[str, TableFile] = {}
        """All files that commits have removed, and may be there still."""
        self._ended = False
        """Whether the chain cannot be followed any further."""

    def run(self, at: int | None, sha256: str | None) -> Verified:
        there = self._without_delta_logs(self._store.names(""))
        states = numbers_in(self._store, STATES)  # Each is written after its commit.
        self._check_names()
        self._follow()
        if at is not None:
            self._check_written_down(at, sha256 or "")
        self._check_files()
        self._check_states(states)
        self._check_unnamed(there)
        self._found.number, self._found.sha256 = self._state.number, self._state.sha256
        return self._found

    def _parquet_files(self, names: list[str]) -> list[str]:
        """Returns those outside of directories with commits of their own; directories of ours have none."""
        ours = {*table_schemas(), *(file.path.partition("/")[0] for file in self._live_files())}
        having = (name.partition(f"/{COMMITS}/")[0] for name in names if f"/{COMMITS}/" in name)
        apart = {one for one in having if one.partition("/")[0] not in ours}
        return [
            name
            for name in names
            if name.endswith(".parquet") and not any(name.startswith(f"{one}/") for one in apart)
        ]

    def _without_delta_logs(self, names: list[str]) -> list[str]:
        apart = [name for name in names if f"/{DELTA_LOG}/" in name]
        if apart:
            logs = sorted({name.partition(f"/{DELTA_LOG}/")[0] for name in apart})
            found = " and ".join(f"{one}/{DELTA_LOG}" for one in logs)
            self._found.notes.append(f"{len(apart)} files in {found} are Delta's: not checked")
        return [name for name in names if f"/{DELTA_LOG}/" not in name]

    def _check_names(self) -> None:
        for name in self._store.names(COMMITS):
            if number_of(name) is None:
                self._say(f"{name} is no commit: remove it if it is not yours")

    def _follow(self) -> None:
        """Follows the chain to its end, or to the first commit that does not apply."""
        last = max(numbers_in(self._store, COMMITS), default=-1)
        while not self._ended and self._advance(last):
            pass

    def _check_files(self) -> None:
        """Compares live files; one that is missing may have been replaced meanwhile."""
        missing = []
        with ThreadPoolExecutor(READS_AT_ONCE) as pool:
            live = self._live_files()
            for file, (found, size) in zip(live, pool.map(self._hashed, live), strict=True):
                self._found.files += 1
                self._found.bytes += size
                if found is None:
                    missing.append(file)
                elif size != file.bytes:
                    self._say(f"{file.path} has {size} bytes, and was committed with {file.bytes}: {RESTORE}")
                elif found != file.sha256:
                    self._say(f"{file.path} has another content than was committed: {RESTORE}")
        self._follow()
        still = set(self._live_files() if missing else ())
        self._found.problems += [f"{file.path} is missing: {RESTORE}" for file in missing if file in still]

    def _hashed(self, file: TableFile) -> tuple[str | None, int]:
        try:
            return hash_and_size(self._store, file.path)
        except FileNotFoundError:
            return None, 0

    def _advance(self, last: int) -> bool:
        """Applies the next commit; returns whether it could."""
        number = self._state.number + 1
        try:
            data = self._store.read(commit_name(number))
        except FileNotFoundError:
            if number <= last:
                self._end(f"{commit_name(number)} is missing, but there is a commit {last}")
            return False
        try:
            commit = Commit.from_bytes(data)
        except ValueError as error:
            return self._end(f"{commit_name(number)} was changed, and is no commit any more ({error})")
        if commit.number != number:
            return self._end(
                f"{commit_name(number)} is commit {commit.number}: commits were exchanged or removed"
            )
        if commit.previous != self._state.sha256:
            self._say(
                f"{commit_name(number - 1)} was changed: commit {number} followed on another one: {RESTORE}"
            )
        try:
            self._state.apply(replace(commit, previous=self._state.sha256), hash_of(data))
        except DoesNotApplyError as error:
            return self._end(f"{commit_name(number)} does not follow on those before it ({error})")
        self._note_replaced(commit)
        self._hashes[number], self._states[number] = hash_of(data), commit.state
        if commit.state and commit.state != hash_of(self._state.to_bytes()):
            self._not_added_up_to.append(number)
        return True

    def _note_replaced(self, commit: Commit) -> None:
        of_history = () if commit.history is None else commit.history.removed
        self._replaced |= {file.path: file for file in (*commit.removed, *of_history)}

    def _end(self, problem: str) -> bool:
        self._say(f"{problem}: {RESTORE}. Later commits are not compared")
        self._ended = True
        return False

    def _say(self, problem: str) -> None:
        self._found.problems.append(problem)

    def _check_states(self, states: list[int]) -> None:
        for number in self._not_added_up_to:
            self._say(
                f"{commit_name(number)} names a state that the commits up to it do not add up to: {RESTORE}"
            )
        for number in states:
            name = state_name(number)
            if number in self._states:
                with suppress(FileNotFoundError):  # An export deletes old ones.
                    if hash_of(self._store.read(name)) != self._states[number]:
                        self._say(
                            f"{name} is not what commit {number} says: delete it, the commits have all of it"
                        )
            elif not self._ended:
                self._say(
                    f"{name} is there, and the last commit is {self._state.number}: later ones were removed: "
                    f"{RESTORE}"
                )

    def _check_written_down(self, at: int, sha256: str) -> None:
        found = self._hashes.get(at)
        if found is None:
            self._say(f"there is no intact commit {at}, the last one is {self._state.number}: {RESTORE}")
        elif found != sha256.lower():
            self._say(
                f"commit {at} has sha256 {found}, not {sha256}: it, or one before it, was changed: {RESTORE}"
            )

    def _live_files(self) -> list[TableFile]:
        history = self._state.history
        files = [file for batch in self._state.batches for file in batch.files]
        return files + ([] if history is None else list(history.files.values()))

    def _check_unnamed(self, there: list[str]) -> None:
        """Looks for files that no commit names: of those seen first, before commits were read."""
        live = {file.path for file in self._live_files()}
        replaced = {path for one in self._state.removed for path in one.paths}
        kept = 0
        for name in self._parquet_files(there):
            if name in live or self._store.size(name) is None:
                continue
            if name in replaced:
                kept += 1
                self._check_kept(self._replaced[name])
            elif self._may_be_committed(name):
                self._found.notes.append(f"{name} is uploaded, and not committed yet")
            else:
                self._say(
                    f"no commit names {name}: the next start of run, compact or history deletes it if a "
                    "killed process left it; otherwise, it is not of kraftctl-export"
                )
        if kept:
            are = one_or_many(kept, "is", "are")
            self._found.notes.append(f"{counted(kept, 'replaced file')} {are} kept for scans that are open")

    def _check_kept(self, file: TableFile) -> None:
        """Compares a file that open scans of published tables, and readers of the directory, still read."""
        found, _ = self._hashed(file)
        if found not in (None, file.sha256):
            self._say(f"{file.path} was replaced, and has another content than was committed: {RESTORE}")

    def _may_be_committed(self, name: str) -> bool:
        """Returns whether a file is too young to be a leftover of an attempt."""
        began = None if isinstance(self._store, LocalStore) else began_at(name)
        return began is not None and abs(time.time() - began) < LEFTOVER_SECONDS
