"""Which file has which open version, so that a batch rewrites only the files of what it ends.

Versions that change often are together in young files, because what begins is written together. A batch
therefore costs at most a few thousand rows for each version that it ends, and not all that are open.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraftctl_spark.history.versions import Key, Version, Versions, beginning

ROWS_MAX = 4_000
"""Of one file: rewriting it takes 20 ms."""


class OpenFiles:
    """Of one kind."""

    def __init__(self) -> None:
        self._file_of: dict[Key, str] = {}
        self._keys_of: dict[str, set[Key]] = {}
        self._touched: set[str] = set()

    def place(self, path: str, versions: Iterable[Version]) -> None:
        """They are in this file."""
        keys = {version.key for version in versions}
        self._keys_of[path] = keys
        self._file_of.update(dict.fromkeys(keys, path))

    def ended(self, closed: Iterable[Version]) -> None:
        """They are not open any more."""
        for version in closed:
            path = self._file_of.pop(version.key, None)
            if path is not None:
                self._keys_of[path].remove(version.key)
                self._touched.add(path)

    def rewrite(self, versions: Versions, everything: bool = False) -> tuple[set[str], list[list[Version]]]:
        """Files that are no longer right, and the rows of the files that replace them; those need a `place`.

        Small files are merged with what is new. With `everything`, all are replaced: then the files depend
        only on the versions.
        """
        begun = versions.begun_since(self._file_of)
        if not (begun or self._touched or everything):
            return set(), []
        small = {path for path, keys in self._keys_of.items() if everything or len(keys) < ROWS_MAX // 2}
        replaced = small | self._touched
        self._touched = set()
        keys = [key for path in replaced for key in self._keys_of.pop(path)]
        rows = sorted([versions.open[key] for key in keys] + begun, key=beginning)
        return replaced, [rows[first : first + ROWS_MAX] for first in range(0, len(rows), ROWS_MAX)]
