"""The numbered commits of an output: a directory of files `_commits/<number>.json`, each created once.

Creating the file of the next number is the commit: of two writers, one gets it, and the other one reads what
is new before it tries again. The state is what all commits add up to. It is written to a file from time to
time, whose hash is in the commit: readers begin there, and without these files with the first commit.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from contextlib import suppress
from dataclasses import replace
from typing import Final

from kraftctl_spark.stores.durable import Hook, no_hook
from kraftctl_spark.stores.store import Store
from kraftctl_spark.tables.commit import Commit, hash_of
from kraftctl_spark.tables.manifest import RESTORE, ExportRefusedError
from kraftctl_spark.tables.output_state import DoesNotApplyError, OutputState

log = logging.getLogger(__name__)

COMMITS: Final = "_commits"
STATES: Final = "_states"
OLD_MANIFESTS: Final = "_manifests"
"""What earlier releases had instead of commits."""

COMMITS_PER_STATE: Final = 100
"""With fewer commits behind the last state, reading them is faster than writing a state is worth."""

BATCHES_PER_COMMIT: Final = 4
"""A state of many batches is written less often, so that a batch costs the same however many there are."""

_NAME = re.compile(r"(\d{20})\.json")


def commit_name(number: int) -> str:
    return f"{COMMITS}/{number:020}.json"


def state_name(number: int) -> str:
    return f"{STATES}/{number:020}.json"


def number_of(name: str) -> int | None:
    """Returns the number of a commit, or of a state; None for a file that is not ours."""
    found = _NAME.fullmatch(name.rpartition("/")[2])
    return None if found is None else int(found[1])


def numbers_in(store: Store, directory: str, after: str = "") -> list[int]:
    """Returns the numbers of the commits, or of the states, in order."""
    numbers = map(number_of, store.names(directory, after))
    return [number for number in numbers if number is not None]


class CommitLog:
    """The commits of one output. It remembers what it has read: reading again costs what is new."""

    def __init__(
        self, store: Store, where: object, hook: Hook = no_hook, *, takes_over: bool = False
    ) -> None:
        self.store = store
        self._where = where
        self._hook = hook
        self._takes_over = takes_over
        self._writer = uuid.uuid4().hex
        self._state: OutputState | None = None
        self.swept = -1
        """The last commit whose removed files this process has deleted; its next commit says so."""

    def state(self) -> OutputState:
        """Returns the state after the newest commit, not to be changed.

        ExportRefusedError if the commits are damaged or of another release.
        """
        if self._state is None:
            self._state = self._loaded()
        while self._advance(self._state):
            pass
        return self._state

    def append(self, change: Commit) -> Commit:
        """Commits a change behind all others; ExportRefusedError if it does not apply to what they left."""
        while True:
            state = self.state()
            try:
                state.check(change)
            except DoesNotApplyError as error:
                raise ExportRefusedError(f"{self._where}: {error}") from error
            placed, kept = self._placed(change, state)
            data = placed.to_bytes()
            if self.store.create(commit_name(placed.number), data) or self._is_ours(placed.number, data):
                self._hook("committed")
                state.apply(placed, hash_of(data))
                if kept is not None:
                    self._keep_state(placed.number, kept)
                return placed

    def _is_ours(self, number: int, data: bytes) -> bool:
        """Returns whether a repeated request found the commit that the first one had created."""
        return self.store.read(commit_name(number)) == data

    def _placed(self, change: Commit, state: OutputState) -> tuple[Commit, bytes | None]:
        """Returns the change at its place in the log, and the state after it if that is to be written."""
        placed = replace(
            change,
            number=state.number + 1,
            previous=state.sha256,
            committed_at_ms=time.time_ns() // 1_000_000,
            writer=self._writer,
            swept=self.swept,
        )
        due = max(COMMITS_PER_STATE, len(state.batches) // BATCHES_PER_COMMIT)
        if placed.number - state.kept_at < due:
            return placed, None
        after = state.copy()
        after.apply(placed, "")
        kept = after.to_bytes()
        return replace(placed, state=hash_of(kept)), kept

    def _keep_state(self, number: int, data: bytes) -> None:
        """Writes a state, and deletes those before the last one, which a reader may have found just now.

        The commit is made, so that this does not fail: readers do without the state.
        """
        try:
            before = numbers_in(self.store, STATES)
            self.store.create(state_name(number), data)
            self._hook("state-written")
            self.store.delete(state_name(one) for one in before[:-1])
        except OSError as error:
            log.warning(
                "the state after commit %d is not written (%s): readers use the commits", number, error
            )

    def _loaded(self) -> OutputState:
        """Returns the state that the newest intact file has; one without commits if there is none."""
        kept = numbers_in(self.store, STATES)
        state = self._newest(kept)
        behind = numbers_in(self.store, COMMITS, commit_name(state.number) if state.number >= 0 else "")
        while self._advance(state):
            pass
        last = max([*behind, *kept], default=-1)
        if last > state.number:
            raise ExportRefusedError(
                f"{self._where}/{commit_name(state.number + 1)} is missing, but there was a commit {last}: "
                f"{RESTORE}"
            )
        if state.number < 0 and not self._takes_over and self.store.names(OLD_MANIFESTS):
            raise ExportRefusedError(
                f"{self._where} is an output of an earlier release: kraftctl-export take-over --output "
                f"{self._where} makes it one of this release"
            )
        return state

    def newest_kept(self, number: int) -> int:
        """Returns the last commit, up to a number, of which there is an intact state; -1 if there is none."""
        return self._newest([one for one in numbers_in(self.store, STATES) if one <= number]).number

    def _newest(self, kept: list[int]) -> OutputState:
        """Returns the last of these states that is intact; one without commits if none is."""
        for number in reversed(kept):
            try:
                data, commit = self.store.read(state_name(number)), self.store.read(commit_name(number))
            except FileNotFoundError:
                continue
            if self._parsed(number, commit).state == hash_of(data):
                with suppress(ValueError):  # Of a later release: its commits may do.
                    return OutputState.from_bytes(data, hash_of(commit))
        return OutputState()

    def _advance(self, state: OutputState) -> bool:
        """Applies the next commit; returns whether there was one."""
        number = state.number + 1
        try:
            data = self.store.read(commit_name(number))
        except FileNotFoundError:
            return False
        try:
            state.apply(self._parsed(number, data), hash_of(data))
        except DoesNotApplyError as error:
            raise ExportRefusedError(
                f"{self._where}/{commit_name(number)} is damaged, or one before it ({error}): {RESTORE}. "
                "kraftctl-export verify says more"
            ) from error
        return True

    def _parsed(self, number: int, data: bytes) -> Commit:
        try:
            return Commit.from_bytes(data)
        except ValueError as error:
            raise ExportRefusedError(
                f"{self._where}/{commit_name(number)} is not a commit of this release ({error}): use the "
                "release that wrote it, or restore the file from a backup"
            ) from error
