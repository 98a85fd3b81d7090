"""Files in memory, on which kraftctl/storage runs unchanged.

While they are attached, the functions of `os`, `io` and `tempfile` use them for paths below ROOT and for
descriptors from FIRST_DESCRIPTOR on, and the system for all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.file_states import DirectoryState
from tests.support.simulator.disks.disk import OpenFile, SimulatedDisk
from tests.support.simulator.disks.os_calls import ROOT, OsCalls


class SimulatedFiles:
    """One disk per node, named after it. Only one instance is attached at a time."""

    def __init__(self) -> None:
        self._disks: dict[str, SimulatedDisk] = {}
        self._top = DirectoryState()
        self._descriptors: dict[int, OpenFile] = {}
        self._calls = OsCalls(self._disks, self._top, self._descriptors)

    def disk(self, name: str) -> SimulatedDisk:
        """The disk with the root `/simulated/<name>`; made empty when first asked for."""
        disk = self._disks.get(name)
        if disk is None:
            disk = self._disks[name] = SimulatedDisk(Path(f"{ROOT}/{name}"), self._descriptors)
            self._top.names[name] = disk.tree
        return disk

    @contextmanager
    def attach(self) -> Iterator[SimulatedFiles]:
        """Replace the functions, for the whole process."""
        with self._calls.replaced():
            yield self
