"""Brokers that leave ISRs and leaderships slice by slice, and directories that do (KIP-841, KIP-858).

The image still shows such a broker as active until the last slice. Without this soft state, requests in
between would return it to ISRs that it has left, and elections would choose it. Nothing relies on it: the
work ends when the index of the image has nothing left. It is empty at each activation.
"""

from __future__ import annotations

from kraftctl.controller.results.controller_result import SoftChange
from kraftctl_protocol.uuids import Uuid


class LeavingBrokers:
    """The brokers and directories of all work in progress; the same one may be in several works."""

    def __init__(self) -> None:
        self._epochs: dict[int, list[int]] = {}
        self._directories: dict[Uuid, int] = {}
        self.elections_are_due = False
        """Whether partitions may lack a leader that can be elected, because a work has ended early."""

    def has(self, broker_id: int, broker_epoch: int) -> bool:
        """Returns whether this incarnation is leaving."""
        if not self._epochs:  # nearly always
            return False
        epochs = self._epochs.get(broker_id)
        return epochs is not None and broker_epoch in epochs

    def has_directory(self, directory: Uuid) -> bool:
        """Returns whether the replicas in this directory are leaving."""
        return directory in self._directories

    def begin(self, broker_id: int, broker_epoch: int) -> None:
        """Starts one more work that removes this incarnation from ISRs."""
        self._epochs.setdefault(broker_id, []).append(broker_epoch)

    def end(self, broker_id: int, broker_epoch: int) -> None:
        """Ends one piece of work started by `begin`."""
        epochs = self._epochs[broker_id]
        epochs.remove(broker_epoch)
        if not epochs:
            del self._epochs[broker_id]

    def begin_directory(self, directory: Uuid) -> None:
        """Starts one more work that removes replicas in this directory from ISRs."""
        self._directories[directory] = self._directories.get(directory, 0) + 1

    def end_directory(self, directory: Uuid) -> None:
        """Ends one piece of work started by `begin_directory`."""
        count = self._directories[directory] - 1
        if count == 0:
            del self._directories[directory]
        else:
            self._directories[directory] = count


class Departure:
    """The entries of one work, which begins and ends them once, in whatever way it ends."""

    def __init__(self, leaving: LeavingBrokers) -> None:
        self._leaving = leaving
        self._broker: tuple[int, int] | None = None
        self._directories: list[Uuid] = []
        self.is_over = False

    def begin(self, broker_id: int, broker_epoch: int) -> None:
        """Marks the broker as leaving, in place of another one or another incarnation."""
        if self._broker == (broker_id, broker_epoch):
            return
        self._end_broker(stays=True)
        self._broker = (broker_id, broker_epoch)
        self._leaving.begin(broker_id, broker_epoch)

    def begin_directories(self, directories: list[Uuid]) -> None:
        """Marks the replicas in these directories as leaving."""
        if self._directories:
            return
        self._directories = list(directories)
        for directory in directories:
            self._leaving.begin_directory(directory)

    def end(self, *, stays: bool) -> None:
        """Ends the work. `stays`: it does not end because the broker is gone."""
        self.is_over = True
        self._end_broker(stays=stays)
        for directory in self._directories:
            self._leaving.end_directory(directory)
        self._directories = []

    def _end_broker(self, *, stays: bool) -> None:
        if self._broker is not None:
            self._leaving.end(*self._broker)
            self._broker = None
            self._leaving.elections_are_due |= stays


class DepartureBegins(SoftChange):
    """Takes effect with the first slice of a work that has more."""

    def __init__(self, departure: Departure, broker_id: int, broker_epoch: int) -> None:
        self._departure = departure
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch

    def make(self) -> None:
        self._departure.begin(self._broker_id, self._broker_epoch)


class DirectoriesBegin(SoftChange):
    """Takes effect with the first slice of a work that has more."""

    def __init__(self, departure: Departure, directories: list[Uuid]) -> None:
        self._departure = departure
        self._directories = directories

    def make(self) -> None:
        self._departure.begin_directories(self._directories)


class DepartureEnds(SoftChange):
    """Takes effect with the last slice. `stays` is that of `Departure.end`."""

    def __init__(self, departure: Departure, *, stays: bool = False) -> None:
        self._departure = departure
        self._stays = stays

    def make(self) -> None:
        self._departure.end(stays=self._stays)
