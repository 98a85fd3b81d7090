"""Observers and brokers in a later epoch than the voters: see the known limits in docs/reliability.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from tests.support.simulator.brokers.brokers import ModelBroker
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import ControllerProcess

JOINED_MS = 10_000
"""By then the leader has joined the epoch of any replica that is or was a voter."""


class LaterEpochs:
    """`format_anew` gives an observer an empty directory and starts it."""

    def __init__(self, cluster: Cluster, format_anew: Callable[[ControllerProcess], None]) -> None:
        self._cluster = cluster
        self._format_anew = format_anew
        self._since_ms: dict[str, int] = {}
        self.are_possible = False
        """A voter lost its directory, and with it an epoch that others may know from it."""

    def is_none(self, leader: ControllerProcess, brokers: Sequence[ModelBroker]) -> bool:
        """Whether no one is in a later epoch than the leader. Who stays there begins with an empty directory.

        AssertionError if no voter lost its directory.
        """
        ahead = self._ahead(leader, brokers)
        now_ms = self._cluster.time.now_ms
        self._since_ms = {who: self._since_ms.get(who, now_ms) for who in ahead}
        for who, begin_anew in ahead.items():
            if now_ms - self._since_ms[who] >= JOINED_MS:
                epoch = leader.raft.epoch
                what = f"{who} stays in a later epoch than {epoch} of the leader, and no voter forgot one"
                assert self.are_possible, f"EventuallyLeaderElected: {what}"
                self._cluster.counts["observers ahead of the voters"] += 1
                begin_anew()
        return not ahead

    def _ahead(
        self, leader: ControllerProcess, brokers: Sequence[ModelBroker]
    ) -> dict[str, Callable[[], None]]:
        """By name, and how it begins anew."""
        epoch, voters = leader.raft.epoch, leader.raft.voter_set
        ahead: dict[str, Callable[[], None]] = {}
        for process in self._cluster.running():
            if process.raft.epoch > epoch and not voters.is_voter(process.key):
                ahead[f"node {process.node_id}"] = partial(self._format_anew, process)
        for broker in brokers:
            if broker.process is not None and broker.process.reader.leader_epoch > epoch:
                ahead[f"broker {broker.broker_id}"] = broker.lose_log_copy
        return ahead
