"""What an output consists of after some commits: live batches, files of the history, and files to delete."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from kraftctl_spark.tables.commit import APPENDING, EXPIRED, Commit, HistoryChange
from kraftctl_spark.tables.forgot import Forgot, ForgottenName
from kraftctl_spark.tables.json_fields import parsed, read_as
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.table_files import FilePath, TableFile

FORMAT: Final = 1


class DoesNotApplyError(Exception):
    """A commit is not one that can follow on this state; the message says why."""


@dataclass(frozen=True)
class LiveHistory:
    """The files of a history, by their paths, and how far it goes."""

    format: int
    cluster_id: str
    end: int
    decoders: tuple[str, ...]
    files: dict[str, TableFile]


@dataclass(frozen=True)
class Removed:
    """Files that a commit has removed, and that may not have been deleted yet."""

    number: int
    at_ms: int
    paths: tuple[FilePath, ...]


@dataclass
class OutputState:
    """The state after a commit; before the first one, it has number -1."""

    number: int = -1
    sha256: str = ""
    """The hash of the bytes of that commit."""
    batches: list[Manifest] = field(default_factory=list)
    """The live ones, which cover the log from offset 0 without a gap."""
    history: LiveHistory | None = None
    removed: list[Removed] = field(default_factory=list)
    forgotten: list[ForgottenName] = field(default_factory=list)
    kept_at: int = -1
    """The last commit after which the state was written to a file."""

    @property
    def end(self) -> int:
        return self.batches[-1].end if self.batches else 0

    @property
    def raw_start(self) -> int:
        """Returns the offset from which raw records are there; those before it have expired."""
        return raw_start(self.batches)

    def copy(self) -> OutputState:
        return replace(
            self,
            batches=list(self.batches),
            removed=list(self.removed),
            forgotten=list(self.forgotten),
        )

    def apply(self, commit: Commit, sha256: str) -> None:
        """Moves to the state after the next commit; DoesNotApplyError, and no change, for another one."""
        if (commit.number, commit.previous) != (self.number + 1, self.sha256):
            raise DoesNotApplyError(f"it does not follow on commit {self.number}, as that is now")
        self.check(commit)
        for batch in commit.batches:
            end = len(self.batches)
            first, behind = (end, end) if commit.kind in APPENDING else self._replaced_by(batch)
            self.batches[first:behind] = [batch]
        if commit.history is not None:
            self.history = _changed(self.history, commit.history)
        of_history = () if commit.history is None else commit.history.removed
        paths = tuple(file.path for file in (*commit.removed, *of_history))
        if paths:
            self.removed.append(Removed(commit.number, commit.committed_at_ms, paths))
        self.removed = [one for one in self.removed if one.number > commit.swept]
        if commit.forgot is not None:
            self.forgotten = _noted(self.forgotten, commit.forgot, commit)
        self.number, self.sha256 = commit.number, sha256
        if commit.state:
            self.kept_at = commit.number

    def check(self, commit: Commit) -> None:
        """Raises DoesNotApplyError if a change that was made before others cannot be made any more."""
        end = self.end
        replaced: dict[str, TableFile] = {}
        added: dict[str, TableFile] = {}
        for batch in commit.batches:
            if commit.kind in APPENDING:
                if batch.start != end or batch.end <= end:
                    raise DoesNotApplyError(f"{batch.name} does not follow on offset {end}")
                end = batch.end
            else:
                first, behind = self._replaced_by(batch)
                replaced |= {file.path: file for one in self.batches[first:behind] for file in one.files}
                self._check_expired(commit.kind, batch, first)
            others = self.batches or commit.batches
            if batch.cluster_id != others[0].cluster_id:
                raise DoesNotApplyError(
                    f"{batch.name} is of cluster {batch.cluster_id}, the others are of {others[0].cluster_id}"
                )
            added |= {file.path: file for file in batch.files}
        gone = {path: file for path, file in replaced.items() if added.get(path) != file}
        if gone != {file.path: file for file in commit.removed}:
            raise DoesNotApplyError("files that it replaces are not live any more")
        if commit.history is not None:
            _check_history(self.history, commit.history)
            if commit.history.end < self.raw_start:
                raise DoesNotApplyError(
                    f"a history that ends at offset {commit.history.end} cannot be continued: the records "
                    f"before offset {self.raw_start} have expired"
                )

    def _check_expired(self, kind: str, batch: Manifest, first: int) -> None:
        """Checks that records go at the beginning alone, once the history has them, and do not come back."""
        expired = batch.expired
        if (expired is not None) != (kind == EXPIRED) or (
            expired is not None and (batch.files or batch.start)
        ):
            raise DoesNotApplyError(f"{batch.name} has expired, or has files, and a commit {kind!r} has not")
        if expired is None and self.batches[first].expired is not None:
            raise DoesNotApplyError(f"the records before offset {self.raw_start} have expired")
        end = 0 if self.history is None else self.history.end
        if expired is not None and expired.in_history and end < batch.end:
            raise DoesNotApplyError(f"the history does not have everything before offset {batch.end}")

    def _replaced_by(self, batch: Manifest) -> tuple[int, int]:
        """Returns which batches have exactly this range: the first, and the one behind the last."""
        first = bisect_left(self.batches, batch.start, key=lambda one: one.start)
        behind = bisect_left(self.batches, batch.end, key=lambda one: one.start)
        within = self.batches[first:behind]
        if not within or (within[0].start, within[-1].end) != (batch.start, batch.end):
            raise DoesNotApplyError(f"no batches have exactly the range of {batch.name}")
        return first, behind

    def to_bytes(self) -> bytes:
        """Returns the content of a file with everything but the hash of the last commit."""
        history = self.history
        if history is not None:
            files = [file.to_dict() for file in history.files.values()]
        fields: dict[str, Any] = {
            "format": FORMAT,
            "number": self.number,
            "batches": [one.to_dict() for one in self.batches],
            "history": None if history is None else {**vars(history), "files": files},
            "removed": [vars(one) for one in self.removed],
        }
        if self.forgotten:
            fields["forgotten"] = [asdict(one) for one in self.forgotten]
        return json.dumps(fields, sort_keys=True).encode() + b"\n"

    @staticmethod
    def from_bytes(data: bytes, sha256: str) -> OutputState:
        """Reads the result of `to_bytes`, which a commit with this hash names.

        ValueError for anything else.
        """
        fields = parsed(data)
        if fields.pop("format", None) != FORMAT:
            raise ValueError("written by another release")
        kept = read_as(_Kept, fields)
        history = None
        if kept.history is not None:
            history = LiveHistory(**{**vars(kept.history), "files": _by_path(kept.history.files)})
        return OutputState(
            number=kept.number,
            sha256=sha256,
            batches=list(kept.batches),
            history=history,
            removed=list(kept.removed),
            forgotten=list(kept.forgotten),
            kept_at=kept.number,
        )


@dataclass(frozen=True)
class _KeptHistory:
    """A history as the file of a state has it: the files without their paths in front."""

    format: int
    cluster_id: str
    end: int
    decoders: tuple[str, ...]
    files: tuple[TableFile, ...]


@dataclass(frozen=True)
class _Kept:
    """The file of a state."""

    number: int
    batches: tuple[Manifest, ...]
    history: _KeptHistory | None
    removed: tuple[Removed, ...]
    forgotten: tuple[ForgottenName, ...] = ()


def _by_path(files: Iterable[TableFile]) -> dict[str, TableFile]:
    return {file.path: file for file in files}


def raw_start(batches: Sequence[Manifest]) -> int:
    """Returns the offset from which batches have their records."""
    return batches[0].end if batches and batches[0].expired is not None else 0


def _check_history(before: LiveHistory | None, change: HistoryChange) -> None:
    live = {} if before is None else before.files
    if change.start != (0 if before is None else before.end):
        raise DoesNotApplyError(f"the history does not end at offset {change.start} any more")
    if any(live.get(file.path) != file for file in change.removed):
        raise DoesNotApplyError("files of the history that it replaces are not live any more")
    gone = {file.path for file in change.removed}
    if any(file.path in live and file.path not in gone for file in change.added):
        raise DoesNotApplyError("the history has files of the same names")


def _changed(before: LiveHistory | None, change: HistoryChange) -> LiveHistory:
    files = {} if before is None else dict(before.files)
    for file in change.removed:
        del files[file.path]
    files |= _by_path(change.added)
    return LiveHistory(change.format, change.cluster_id, change.end, change.decoders, files)


def _noted(before: list[ForgottenName], forgot: Forgot, commit: Commit) -> list[ForgottenName]:
    """Returns the names with one more, or with the end of one."""
    at_ms = commit.committed_at_ms
    if forgot.is_finished:
        return [
            replace(one, finished_at_ms=at_ms) if one.pseudonym == forgot.pseudonym else one for one in before
        ]
    what = (forgot.kind, forgot.pseudonym, forgot.records, forgot.files)
    return [*before, ForgottenName(*what, commit.number, at_ms)]
