"""Connections that do nothing, like those of clients at rest: their memory, and heartbeats beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from tests.bench.compare.figures import Figures
from tests.bench.compare.frames import (
    REQUEST_CORRELATION_ID,
    UnexpectedResponseError,
    decoded,
    request_frame,
)
from tests.bench.compare.prepared_brokers import client, unfenced_brokers
from tests.bench.compare.running import Running
from tests.bench.compare.scenario import LONG_SESSION, Load, Measure, Scenario
from tests.bench.compare.scenarios.heartbeats import heartbeats
from tests.bench.compare.scripts import NOTHING, Frame, Notes
from tests.support.wire.controller_client import StandInBroker

VERSION: Final = 3
INTERVAL_S: Final = 0.01
"""Of the heartbeats: a hundred in a second take little, and have a 99 %."""


class Greeting:
    """ApiVersions, with which each client of Kafka begins; then nothing."""

    correlation_at = REQUEST_CORRELATION_ID
    interval_s = 0.0

    def __init__(self) -> None:
        request = ApiVersionsRequest(client_software_name="bench", client_software_version="1")
        self._request: bytearray | None = bytearray(request_frame(request, VERSION))

    def frame(self) -> bytearray | None:
        frame, self._request = self._request, None
        return frame

    def check(self, answer: Frame) -> None:
        found = decoded(answer, ApiVersionsRequest.API_KEY, VERSION)
        if found.error_code != 0:
            raise UnexpectedResponseError(f"answered {found}")

    def finish(self) -> Notes:
        """Nothing: all answers are checked already."""
        return NOTHING


@dataclass
class State:
    running: Running
    broker: StandInBroker


def prepare(running: Running) -> State:
    with client(running.port) as connection:
        (broker,) = unfenced_brokers(connection, running.controller.cluster_id, 1)
        return State(running, broker)


@contextmanager
def idle_beside_heartbeats(state: State, connections: int) -> Iterator[Measure]:
    running = state.running
    with running.load([heartbeats(state.broker, INTERVAL_S)]) as beats:
        before_bytes = running.resident_bytes()
        with running.load([Greeting() for _ in range(connections)]) as idle:
            idle.run()
            grown_bytes = running.resident_bytes() - before_bytes

            def measure(seconds: float) -> Figures:
                before_s = running.processor_s()
                window = beats.run(seconds)
                used_s = running.processor_s() - before_s
                figures = {
                    "p50_ms": window.p50_ms,
                    "p99_ms": window.p99_ms,
                    "processor_percent": 1e2 * used_s / window.seconds,
                    "resident_mib": running.resident_bytes() / 2**20,
                }
                if connections:
                    figures["kib_per_connection"] = grown_bytes / connections / 2**10
                return figures

            yield measure


def load(connections: int) -> Load:
    name = f"{connections:,} connections" if connections else "no others"
    return Load(name, partial(idle_beside_heartbeats, connections=connections))


SCENARIO: Final = Scenario(
    name="connections",
    title="Connections that do nothing, and a broker that sends a heartbeat every 10 ms",
    prepare=prepare,
    loads=(load(0), load(1_000)),
    settings=LONG_SESSION,
)
