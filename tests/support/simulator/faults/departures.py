"""When all faults have ended, some brokers stay away and others shut down; all that follows has to end.

Then all shut down, so that no partition has a leader, and one returns. The controller that makes it a leader
ends between two slices, and the next one has to find what is left.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial

from kraftctl.node.long_work import SLICES
from tests.support.simulator.brokers.broker_process import BrokerProcess, BrokerState
from tests.support.simulator.brokers.brokers import ModelBroker
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.checks.long_work_settled import (
    why_not_answered,
    why_not_fenced,
    why_not_led,
    why_work_is_left,
)
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.faults.slice_happenings import TURNS, PlannedTurn

WITHIN_MS = 60_000
LEADERS_ELECTED_MS = 2_000


class Departures:
    """`begin` when faults end, `settle` once there is an active controller. Then all brokers are back."""

    def __init__(self, cluster: Cluster, brokers: Sequence[ModelBroker], restart: Callable[[], bool]) -> None:
        self._cluster = cluster
        self._restart = restart
        """Starts controllers that are down. Whether all run."""
        self._brokers = brokers
        self._silent: list[ModelBroker] = []
        self._stopping: list[tuple[int, BrokerProcess]] = []

    def begin(self, rng: random.Random) -> None:
        """At least one broker stays."""
        leaving = rng.sample(list(self._brokers), rng.randint(0, len(self._brokers) - 1))
        count = rng.randint(0, len(leaving))
        self._silent = leaving[:count]
        for broker in self._silent:
            broker.stay_away()
        for broker in leaving[count:]:
            broker.shut_down()

    def settle(self) -> None:
        self._stopping = [
            (broker.broker_id, broker.process)
            for broker in self._brokers
            if broker.process is not None and broker.process.state is BrokerState.STOPPING
        ]
        silent = [broker.broker_id for broker in self._silent]
        self._await("EventuallyFenced", lambda active: why_not_fenced(active.controller.image, silent))
        self._await("EventuallyReleased", self._why_not_released)
        self._await("EventuallyLed", lambda active: why_not_led(active.controller.image))
        self._await("EventuallyIdle", _why_not_idle)
        asked = {process.node_id: process.open_requests for process in self._cluster.running()}
        self._await("EventuallyAnswered", lambda active: self._why_not_answered(asked))
        for broker in self._silent:
            broker.calm()

    def return_after_all_have_left(self, rng: random.Random) -> None:
        """All brokers run when this begins, and come back at its end."""
        for broker in self._brokers:
            broker.stop_and_stay_away()
        self._await("EventuallyReleased", lambda active: self._why_some_run())
        for process in self._cluster.running():
            end = partial(self._kill, process)
            process.watched.planned_end = PlannedTurn(SLICES, rng.choice(TURNS), end)
        first = rng.choice(list(self._brokers))
        first.calm()
        self._await("EventuallyReleased", lambda active: None if first.is_running else "does not run again")
        self._cluster.run_for(LEADERS_ELECTED_MS)
        for process in self._cluster.running():
            process.watched.planned_end = None
        self._await("EventuallyLed", lambda active: why_not_led(active.controller.image))
        self._await("EventuallyIdle", _why_not_idle)
        for broker in self._brokers:
            broker.calm()

    def _kill(self, process: ControllerProcess) -> None:
        for other in self._cluster.running():
            other.watched.planned_end = None
        self._cluster.counts["kill while a first broker returns"] += 1
        process.kill()

    def _why_some_run(self) -> str | None:
        running = [broker.broker_id for broker in self._brokers if broker.process is not None]
        return f"{running} do not stop" if running else None

    def _why_not_released(self, active: ControllerProcess) -> str | None:
        for broker_id, process in self._stopping:
            if process.state is BrokerState.STOPPING:
                return f"broker {broker_id}: {active.controller.image.cluster.broker(broker_id)!r}"
        return None

    def _why_not_answered(self, asked: dict[int, set[tuple[int, int]]]) -> str | None:
        for process in self._cluster.running():
            reason = why_not_answered(asked.get(process.node_id, set()), process.open_requests)
            if reason is not None:
                return f"node {process.node_id}: {reason}"
        return None

    def _await(self, name: str, why_not: Callable[[ControllerProcess], str | None]) -> None:
        until_us = self._cluster.time.now_us + WITHIN_MS * 1000
        while True:
            active = self._cluster.active()
            missing = "no active controller" if active is None else why_not(active)
            if self._restart() and missing is None:
                return
            if self._cluster.time.now_us >= until_us:
                broken(name, f"not within {WITHIN_MS} ms: {missing}")
            self._cluster.run_for(200)


def _why_not_idle(active: ControllerProcess) -> str | None:
    return why_work_is_left(active.controller, active.controller.state.heartbeats.leaving)
