"""What has to end within a time: leaderships without a majority, and sessions of brokers that are silent.

Looked at now and then, and after each fault: whatever could excuse a node in between is looked for, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import ControllerProcess

LOOK_US = 500_000
SLOWEST_CLOCK = 0.9
LONG_AGO_MS = -(1 << 60)
SPARE_US = 1_500_000
SPARE_FOR_STALLS_US = 4_000_000
"""After a stall of its own, a controller listens to brokers before it fences them (KAFKA-17793)."""


class Broker(Protocol):
    """ModelBroker. `process` is None while it is down."""

    @property
    def broker_id(self) -> int: ...

    @property
    def lives(self) -> int: ...

    @property
    def process(self) -> object | None: ...


class TimelyEnds:
    """`look` at every `LOOK_US` and after each fault."""

    def __init__(self, cluster: Cluster, brokers: Sequence[Broker]) -> None:
        self._cluster = cluster
        self._brokers = brokers
        self._alone_since_us: dict[tuple[int, int, int], int] = {}
        """(node id, life, epoch) of leaders that reach no majority."""
        self._silent_since_us: dict[tuple[int, int], int] = {}
        """(broker id, how many processes it has had) of brokers that the active controller cannot hear."""
        self._active: tuple[int, int, int] | None = None
        self._active_since_us = 0

    def look(self) -> None:
        now_us = self._cluster.time.now_us
        alone = [
            process for process in self._cluster.running() if _is_awake(process) and self._is_alone(process)
        ]
        self._alone_since_us = {
            key: self._alone_since_us.get(key, now_us) for key in map(_leadership_of, alone)
        }
        for process in alone:
            self._check_resigns(process, now_us)
        if self._brokers:
            self._check_sessions(now_us)

    # LeaderHasMajority

    def _is_alone(self, process: ControllerProcess) -> bool:
        raft = process.raft
        if not raft.is_leader:
            return False
        voter_ids = raft.voter_set.voter_ids()
        reached = sum(self._reaches(process.node_id, voter_id) for voter_id in voter_ids)
        return reached <= len(voter_ids) // 2

    def _reaches(self, node_id: int, other_id: int) -> bool:
        if other_id == node_id:
            return True
        lifetime = self._cluster.processes[other_id].lifetime
        cut = self._cluster.wire.cut
        return (
            lifetime is not None
            and not lifetime.frozen
            and (node_id, other_id) not in cut
            and (other_id, node_id) not in cut
        )

    def _check_resigns(self, process: ControllerProcess, now_us: int) -> None:
        """Check-quorum waits 1.5 fetch timeouts; a Fetch from before may be on its way."""
        late_us = self._cluster.wire.faults.late_us_max
        timeout_us = int(process.config.controller_quorum_fetch_timeout_ms * 1_500 / SLOWEST_CLOCK)
        since_us = self._alone_since_us[_leadership_of(process)]
        if now_us - since_us > timeout_us + late_us + SPARE_US:
            broken(
                "LeaderHasMajority",
                f"node {process.node_id} leads epoch {process.raft.epoch} and has reached no majority since"
                f" {since_us // 1000} ms",
            )

    # SilentBrokerIsFenced

    def _check_sessions(self, now_us: int) -> None:
        process = self._cluster.active()
        self._silent_since_us = {
            (broker.broker_id, broker.lives): self._silent_since_us.get(
                (broker.broker_id, broker.lives), now_us
            )
            for broker in self._brokers
            if broker.process is None or (process is not None and self._is_cut_off(broker, process))
        }
        active = None if process is None or not _is_awake(process) else _leadership_of(process)
        if active != self._active:
            self._active, self._active_since_us = active, now_us
        if process is None or active is None:
            return
        timeout_us = (
            int(process.config.broker_session_timeout_ms * 1_000 / SLOWEST_CLOCK) + SPARE_FOR_STALLS_US
        )
        image = process.controller.image
        heartbeats = process.controller.state.heartbeats
        for each in image.cluster.brokers.values():
            # KAFKA-18138: with the time of long ago, any session is valid.
            has_session = heartbeats.has_valid_session(each.id, each.epoch, LONG_AGO_MS)
            if not each.fenced and not has_session and not heartbeats.leaving.has(each.id, each.epoch):
                broken("SilentBrokerIsFenced", f"node {process.node_id} has no session of {each!r}")
        for (broker_id, _), silent_since_us in self._silent_since_us.items():
            since_us = max(silent_since_us, self._active_since_us)
            registration = image.cluster.broker(broker_id)
            if registration is None or registration.fenced or now_us - since_us <= timeout_us:
                continue
            if heartbeats.leaving.has(broker_id, registration.epoch):
                continue  # slice by slice; EventuallyFenced says that this ends
            broken(
                "SilentBrokerIsFenced",
                f"broker {broker_id} is silent since {silent_since_us // 1000} ms, node {process.node_id}"
                f" active since {self._active_since_us // 1000} ms: {registration!r}",
            )

    def _is_cut_off(self, broker: Broker, process: ControllerProcess) -> bool:
        """Its heartbeats do not arrive; answers that are lost do not matter."""
        return (f"broker-{broker.broker_id}", process.node_id) in self._cluster.wire.cut


def _is_awake(process: ControllerProcess) -> bool:
    """Neither frozen nor waiting for its disk."""
    return process.lifetime is not None and not process.lifetime.frozen and not process.watched.paused


def _leadership_of(process: ControllerProcess) -> tuple[int, int, int]:
    return (process.node_id, process.life, process.raft.epoch)
