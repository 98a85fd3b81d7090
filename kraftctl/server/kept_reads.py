"""What was read from files lately, for replicas that follow one another through the same log or snapshot.

Brokers that start together read the same positions. One read then serves all of them: the bytes are shared,
and are not checked again, since they have not been on a disk in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

KEPT_BYTES_MAX: Final = 8 * 1024 * 1024
"""Eight slices of controller.quorum.fetch.max.bytes by default."""

KEPT_BYTES_MIN: Final = 64 * 1024
"""What is shorter is cheap to read, and the end of a log soon has more."""

LogSlice = tuple[int, int]
"""Offset and size asked for."""

SnapshotSlice = tuple[OffsetAndEpoch, int, int]
"""Position and size asked for."""


class KeptReads:
    """Used on the storage thread only, so that nothing is kept that a call before has cut or deleted."""

    def __init__(self) -> None:
        self._kept: dict[LogSlice | SnapshotSlice, tuple[bytes, int]] = {}
        """The least recently used first; with the offset that the log was read up to."""
        self._kept_bytes = 0

    def of_log(self, wanted: LogSlice, end_offset: int, read: Callable[[], bytes]) -> bytes:
        """What `read` returns, or has returned: nothing from `end_offset` on."""
        return self._get(wanted, end_offset, read)

    def of_snapshot(self, wanted: SnapshotSlice, read: Callable[[], bytes]) -> bytes:
        """What `read` returns, or has returned."""
        return self._get(wanted, 0, read)

    def clear(self) -> None:
        """The log was cut, or files are deleted."""
        self._kept.clear()
        self._kept_bytes = 0

    def _get(self, wanted: LogSlice | SnapshotSlice, end_offset: int, read: Callable[[], bytes]) -> bytes:
        found = self._kept.get(wanted)
        if found is not None and found[1] <= end_offset:
            self._kept[wanted] = self._kept.pop(wanted)
            return found[0]
        data = read()
        if KEPT_BYTES_MIN <= len(data) <= KEPT_BYTES_MAX:
            self._keep(wanted, data, end_offset)
        return data

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
