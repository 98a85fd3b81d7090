"""Voters that get another port (UpdateRaftVoter), by a careful operator: one after the other."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.simulator.cluster.cluster import LISTENER, PORT, Cluster
from tests.support.simulator.cluster.process import ControllerProcess

WITHOUT_LEADER_US_MAX = 10_000_000
"""After so long without a leader the operator has the last voter that moved return to its former address."""


class Moves:
    """Until the new address is committed, the others may not reach the voter: then no other one moves.

    With each address that is committed the operator renews the configuration of all nodes, which they read at
    their next start. Those that have lost the leader meanwhile are restarted.
    """

    def __init__(self, cluster: Cluster, start: Callable[[ControllerProcess], None]) -> None:
        self._cluster = cluster
        self._start = start
        self._moving: int | None = None
        self._former_port = PORT
        self._last_port = PORT
        self._last_led_us: dict[int, int] = {}

    @property
    def is_open(self) -> bool:
        """Whether a voter has moved, and the committed voters have its former address."""
        return self._moving is not None

    def move(self, node_id: int) -> bool:
        leader = self._cluster.leader()
        if leader is None or self._moving is not None:
            return False
        voter_ids = leader.raft.voter_set.voter_ids()
        process = self._cluster.processes[node_id]
        if node_id not in voter_ids or len(voter_ids) < 3 or process.lifetime is None:
            return False
        self._moving, self._former_port = node_id, self._cluster.ports[node_id]
        self._last_port += 1
        self._restart_at(process, self._last_port)
        return True

    def look_after(self) -> None:
        leader = self._cluster.leader()
        self._note_who_is_led(leader)
        if self._moving is not None:
            self._look_after_move(self._moving, leader)
        if leader is not None and self._last_port > PORT:
            for process in self._cluster.running():
                if self._is_lost(process):
                    self._cluster.counts["restarted to find the leader"] += 1
                    process.kill()
                    self._cluster.renew_config(process)
                    self._start(process)

    def _look_after_move(self, node_id: int, leader: ControllerProcess | None) -> None:
        process = self._cluster.processes[node_id]
        if leader is None:
            if self._is_lost(process):
                self._cluster.counts["voters moved back"] += 1
                port, self._former_port = self._former_port, self._cluster.ports[node_id]
                self._restart_at(process, port)
            return
        if leader.raft.high_watermark < 0:
            return
        voters = leader.raft.voters_at(leader.raft.high_watermark)
        node = voters.nodes.get(node_id)
        if node is None or node.endpoints[LISTENER][1] == self._cluster.ports[node_id]:
            self._moving = None
            self._cluster.counts["addresses of moved voters committed"] += node is not None
            for other in self._cluster.processes.values():
                self._cluster.renew_config(other)

    def _restart_at(self, process: ControllerProcess, port: int) -> None:
        if process.lifetime is not None:
            process.kill()
        self._cluster.move(process, port)
        self._last_led_us[process.node_id] = self._cluster.time.now_us
        process.heal_disk()
        self._start(process)

    def _note_who_is_led(self, leader: ControllerProcess | None) -> None:
        """In the epoch of `leader`: the same node may have led an earlier one, at another address."""
        if leader is None:
            return
        for process in self._cluster.running():
            if (process.raft.epoch, process.raft.leader_id) == (leader.raft.epoch, leader.node_id):
                self._last_led_us[process.node_id] = self._cluster.time.now_us

    def _is_lost(self, process: ControllerProcess) -> bool:
        last_us = self._last_led_us.setdefault(process.node_id, self._cluster.time.now_us)
        is_lost = self._cluster.time.now_us - last_us > WITHOUT_LEADER_US_MAX
        if is_lost:
            self._last_led_us[process.node_id] = self._cluster.time.now_us
        return is_lost
