"""What was read from files lately, for replicas that follow one another through the same log or snapshot.

Brokers that start together read the same positions. One read then serves all of them: the bytes are shared,
and are not checked again, since they have not been on a disk in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

KEPT_BYTES_MAX: Final = 16 * 1024 * 1024
"""Sixteen slices of controller.quorum.fetch.max.bytes by default: the log of 100,000 partitions, which
brokers that start together read at different speeds."""

KEPT_BYTES_MIN: Final = 64 * 1024
"""What is shorter is cheap to read, and the end of a log soon has more."""

LogSlice = tuple[int, int]
"""Offset and size asked for."""

SnapshotSlice = tuple[OffsetAndEpoch, int, int]
"""Position and size asked for."""


class ReadCache:
    """Filled and cleared on the storage thread only, so that nothing is kept that a call before has cut or
    deleted. `find_of_log` and `find_of_snapshot` are for the thread of the node: it carries out nothing from
    the effect that cuts the files until they are cut.
    """

    def __init__(self) -> None:
        self._kept: dict[LogSlice | SnapshotSlice, tuple[bytes, int]] = {}
        """The oldest first; with the offset that the log was read up to."""
        self._kept_bytes = 0

    def of_log(self, wanted: LogSlice, end_offset: int, read: Callable[[], bytes]) -> bytes:
        """What `read` returns, or has returned: nothing from `end_offset` on."""
        return self._get(wanted, end_offset, read)

    def of_snapshot(self, wanted: SnapshotSlice, read: Callable[[], bytes]) -> bytes:
        """What `read` returns, or has returned."""
        return self._get(wanted, 0, read)

    def find_of_log(self, wanted: LogSlice, end_offset: int) -> bytes | None:
        """What `of_log` would return without reading."""
        return self._find(wanted, end_offset)

    def find_of_snapshot(self, wanted: SnapshotSlice) -> bytes | None:
        """What `of_snapshot` would return without reading."""
        return self._find(wanted, 0)

    def clear(self) -> None:
        """The log was cut, or files are deleted."""
        self._kept.clear()
        self._kept_bytes = 0

    def _get(self, wanted: LogSlice | SnapshotSlice, end_offset: int, read: Callable[[], bytes]) -> bytes:
        found = self._find(wanted, end_offset)
        if found is not None:
            return found
        data = read()
        if KEPT_BYTES_MIN <= len(data) <= KEPT_BYTES_MAX:
            self._keep(wanted, data, end_offset)
        return data

    def _find(self, wanted: LogSlice | SnapshotSlice, end_offset: int) -> bytes | None:
        # Changes nothing, since both threads may be here: what is used is dropped like the rest.
        found = self._kept.get(wanted)
        return None if found is None or found[1] > end_offset else found[0]

    def _keep(self, wanted: LogSlice | SnapshotSlice, data: bytes, end_offset: int) -> None:
        self._drop(wanted)
        while self._kept_bytes + len(data) > KEPT_BYTES_MAX:
            self._drop(next(iter(self._kept)))
        self._kept[wanted] = (data, end_offset)
        self._kept_bytes += len(data)

    def _drop(self, wanted: LogSlice | SnapshotSlice) -> None:
        dropped = self._kept.pop(wanted, None)
        if dropped is not None:
            self._kept_bytes -= len(dropped[0])
