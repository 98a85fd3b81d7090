"""Tracks which file has which open version, so that a batch rewrites only files whose versions it ends.

Versions that change often are together in young files, because those that begin together are written
together. A batch therefore costs at most a few thousand rows for each version that it ends, and not all that
are open. `OpenPartitions` does the same with columns.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from kraftctl_spark.history.schema import encode_versions
from kraftctl_spark.history.versions.versions import Key, Version, Versions, beginning

ROWS_MAX = 4_000
"""The rows of one file: rewriting it takes 20 ms."""


class OpenFiles:
    """The files of one kind."""

    def __init__(self, versions: Versions) -> None:
        self._versions = versions
        self._file_of: dict[Key, str] = {}
        self._keys_of: dict[str, set[Key]] = {}
        self._touched: set[str] = set()
        self._rewritten: list[list[Version]] = []

    def load(self, path: str, versions: Iterable[Version]) -> None:
        """Loads versions that are in this file."""
        keys = {version.key for version in versions}
        self._keys_of[path] = keys
        self._file_of.update(dict.fromkeys(keys, path))

    def ended(self, closed: Iterable[Version]) -> None:
        """Notes that these are not open any more."""
        for version in closed:
            path = self._file_of.pop(version.key, None)
            if path is not None:
                self._keys_of[path].remove(version.key)
                self._touched.add(path)

    def rewrite(self, cluster_id: str, everything: bool = False) -> tuple[set[str], list[pa.Table]]:
        """Returns the files to remove, and the rows of those that replace them; a `place` follows.

        Small files are merged with what is new. With `everything`, all are replaced: then the files depend
        only on the versions.
        """
        versions = self._versions
        begun = versions.begun_since(self._file_of)
        if not (begun or self._touched or everything):
            return set(), []
        small = {path for path, keys in self._keys_of.items() if everything or len(keys) < ROWS_MAX // 2}
        replaced = small | self._touched
        self._touched = set()
        keys = [key for path in replaced for key in self._keys_of.pop(path)]
        rows = sorted([versions.open[key] for key in keys] + begun, key=beginning)
        self._rewritten = [rows[first : first + ROWS_MAX] for first in range(0, len(rows), ROWS_MAX)]
        return replaced, [encode_versions(versions.kind, part, cluster_id) for part in self._rewritten]

    def place(self, paths: Iterable[str]) -> None:
        """Takes the files that were written from the result of `rewrite`."""
        for path, versions in zip(paths, self._rewritten, strict=True):
            self.load(path, versions)
        self._rewritten = []
