"""Open versions of one kind, and how a record closes them (a type 2 dimension)."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any, NamedTuple

from kraftctl_spark.history.versions.kinds import Kind

Key = tuple[Any, ...]
Values = tuple[Any, ...]

CHANGED, REMOVED, GAP = "changed", "removed", "gap"


class LogPlace(NamedTuple):
    """A place in the log. All rows of a snapshot are at the last offset that it contains."""

    offset: int
    time_us: int | None
    in_snapshot: bool
    batch_offset: int | None = None
    """The first offset of the record's batch: the changes of one request have the same one."""


class Version(NamedTuple):
    """A version, valid from an offset (inclusive) to another (exclusive); without an end, it is still
    valid.
    """

    key: Key
    values: Values
    valid_from_offset: int
    valid_from_time_us: int | None
    from_snapshot: bool
    batch_offset: int | None
    valid_to_offset: int | None = None
    valid_to_time_us: int | None = None
    ended_by: str | None = None


class Change(NamedTuple):
    """A change by a record; None where there is no version before or after it."""

    table: str
    key: Key
    before: Values | None
    after: Values | None
    at: LogPlace


def beginning(version: Version) -> tuple[int, str]:
    """The order of open versions. It does not depend on how the records arrived: one record, and every
    snapshot, begins several."""
    return version.valid_from_offset, repr(version.key)


class Versions:
    """The versions of one kind. Closed ones are collected until they are taken; changes are added to
    `changes`.
    """

    def __init__(
        self, kind: Kind, still_open: Iterable[Version] = (), changes: list[Change] | None = None
    ) -> None:
        self.kind = kind
        self._changes = [] if changes is None else changes
        self.open: dict[Key, Version] = {version.key: version for version in still_open}
        """The open versions; the newest is the last one."""
        self._closed: list[Version] = []

    def values(self, key: Key) -> Values | None:
        """Returns the valid values; None for an unknown key."""
        version = self.open.get(key)
        return None if version is None else version.values

    def set(self, key: Key, values: Values, at: LogPlace, *, hides: bool = False) -> None:
        """Sets values; without a difference, no version begins, unless they hide what may differ."""
        version = self.open.get(key)
        before = None
        if version is not None:
            before = version.values
            if before == values and not hides:
                return
            del self.open[key]  # Its next version is the last one in `open`.
            self._close(version, at.offset, at.time_us, CHANGED)
        self._changes.append(Change(self.kind.name, key, before, values, at))
        self.open[key] = Version(key, values, at.offset, at.time_us, at.in_snapshot, at.batch_offset)

    def remove(self, key: Key, at: LogPlace) -> bool:
        """Removes the values of a key; returns whether it is known."""
        version = self.open.pop(key, None)
        if version is None:
            return False
        self._changes.append(Change(self.kind.name, key, version.values, None, at))
        self._close(version, at.offset, at.time_us, REMOVED)
        return True

    def end_at_gap(self, offset: int, time_us: int | None) -> None:
        """Ends every version, because the log after it is not known."""
        for version in self.still_open():
            self._close(version, offset, time_us, GAP)
        self.open = {}

    def _close(self, version: Version, offset: int, time_us: int | None, ended_by: str) -> None:
        self._closed.append(
            Version(
                version.key,
                version.values,
                version.valid_from_offset,
                version.valid_from_time_us,
                version.from_snapshot,
                version.batch_offset,
                offset,
                time_us,
                ended_by,
            )
        )

    def take_closed(self) -> list[Version]:
        """Returns versions in the order in which they ended, each once."""
        taken, self._closed = self._closed, []
        return taken

    def still_open(self) -> list[Version]:
        """Returns open versions in the order in which they began, see `beginning`."""
        return sorted(self.open.values(), key=beginning)

    def begun_since(self, known: Container[Key]) -> list[Version]:
        """The open versions that are not `known`, all of which began earlier; costs only what it returns."""
        begun = []
        for version in reversed(self.open.values()):
            if version.key in known:
                break
            begun.append(version)
        return begun
