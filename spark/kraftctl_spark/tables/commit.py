"""One change of an output: what it adds and removes, and the hash of the change before it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from kraftctl_spark.tables.forgot import Forgot
from kraftctl_spark.tables.json_fields import parsed, read_as
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.table_files import TableFile

FORMAT: Final = 1

BATCH: Final = "batch"
MERGE: Final = "merge"
DECODED_AGAIN: Final = "decoded again"
HISTORY: Final = "history"
TAKEN_OVER: Final = "taken over"
EXPIRED: Final = "expired"
FORGOTTEN: Final = "forgotten"
"""What a commit is about."""

APPENDING: Final = (BATCH, TAKEN_OVER)
"""Batches of all other kinds replace those of the same range."""


@dataclass(frozen=True)
class HistoryChange:
    """What a commit changes in the history. Paths begin at the root of the output, like all others."""

    format: int
    cluster_id: str
    start: int
    """Where the history ended before; 0 without one."""
    end: int
    """Everything before it is in the history from here on."""
    decoders: tuple[str, ...]
    added: tuple[TableFile, ...]
    removed: tuple[TableFile, ...]

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "added": _as_dicts(self.added), "removed": _as_dicts(self.removed)}


@dataclass(frozen=True)
class Commit:
    """A change. Number and hash are those of its place in the log, which `placed` gives it."""

    kind: str
    batches: tuple[Manifest, ...] = ()
    """The batches that it appends, or that replace those of the same range."""
    removed: tuple[TableFile, ...] = ()
    """The files of replaced batches that no other one has."""
    history: HistoryChange | None = None
    forgot: Forgot | None = None
    """What is written about a name that its files do not have any more."""
    number: int = -1
    previous: str = ""
    """The hash of the bytes of the commit before; empty for the first one."""
    committed_at_ms: int = 0
    writer: str = ""
    """The process that made it, by a random name: no other one writes the same bytes."""
    swept: int = -1
    """All files that commits up to this one removed have been deleted."""
    state: str = ""
    """The hash of the file with the whole state after this commit, where one was written; otherwise empty."""

    @property
    def changes_nothing(self) -> bool:
        return not self.batches and self.history is None

    def to_bytes(self) -> bytes:
        fields = {
            **vars(self),
            "format": FORMAT,
            "batches": [one.to_dict() for one in self.batches],
            "removed": _as_dicts(self.removed),
            "history": None if self.history is None else self.history.to_dict(),
        }
        forgot = fields.pop("forgot")
        if forgot is not None:  # Most commits are as those of releases that cannot forget.
            fields["forgot"] = vars(forgot)
        return json.dumps(fields, sort_keys=True).encode() + b"\n"

    @staticmethod
    def from_bytes(data: bytes) -> Commit:
        """Reads the result of `to_bytes`; ValueError for anything else."""
        fields = parsed(data)
        if fields.pop("format", None) != FORMAT:
            raise ValueError("written by another release")
        return read_as(Commit, fields)


def hash_of(data: bytes) -> str:
    return sha256(data).hexdigest()


def _as_dicts(files: Iterable[TableFile]) -> list[dict[str, Any]]:
    return [file.to_dict() for file in files]
