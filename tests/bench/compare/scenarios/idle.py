"""What a controller takes when nothing changes: its brokers send heartbeats, and wait for new records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from tests.bench.compare.figures import Figures
from tests.bench.compare.following import Following
from tests.bench.compare.prepared_brokers import client, unfenced_brokers
from tests.bench.compare.quorum_state import QuorumState, quorum_state
from tests.bench.compare.running import Running
from tests.bench.compare.scenario import LONG_SESSION, Load, Measure, Scenario
from tests.bench.compare.scenarios.heartbeats import heartbeats
from tests.bench.compare.scripts import Script
from tests.support.wire.controller_client import StandInBroker

BROKERS: Final = 100
HEARTBEAT_INTERVAL_S: Final = 2.0
"""Kafka's default of broker.heartbeat.interval.ms."""
WINDOWS: Final = 2
"""One round is as long as so many of others: little happens in it."""


@dataclass
class State:
    running: Running
    brokers: list[StandInBroker]
    quorum: QuorumState


def prepare(running: Running, brokers: int = BROKERS) -> State:
    with client(running.port) as connection:
        registered = unfenced_brokers(connection, running.controller.cluster_id, brokers)
        return State(running, registered, quorum_state(connection))


@contextmanager
def quiet(state: State, brokers: int) -> Iterator[Measure]:
    cluster_id = state.running.controller.cluster_id
    scripts: list[Script] = []
    for broker in state.brokers[:brokers]:
        scripts.append(heartbeats(broker, HEARTBEAT_INTERVAL_S))
        scripts.append(Following(cluster_id, broker.broker_id, state.quorum))
    with state.running.load(scripts) as load:

        def measure(seconds: float) -> Figures:
            before_s = state.running.processor_s()
            window = load.run(seconds * WINDOWS)
            used_s = state.running.processor_s() - before_s
            return {
                "processor_percent": 1e2 * used_s / window.seconds,
                "resident_mib": state.running.resident_bytes() / 2**20,
            }

        yield measure


def load(brokers: int) -> Load:
    return Load(f"{brokers} brokers", partial(quiet, brokers=brokers))


SCENARIO: Final = Scenario(
    name="idle",
    title="Nothing changes",
    prepare=prepare,
    loads=(load(3), load(20), load(100)),
    settings=LONG_SESSION,
)
