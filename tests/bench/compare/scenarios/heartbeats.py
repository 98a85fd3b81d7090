"""Heartbeats that change nothing, in closed loops: as many brokers, each with one in flight.

The floor is a uvloop server that returns frames of the same size: what a Python process takes for a request
and a response of this kind, whatever it does with them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from kraftctl.dev.nodes import Controller
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import accepts_connections
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from tests.bench.compare import echo_server
from tests.bench.compare.frames import answer_frame, request_frame
from tests.bench.compare.prepared_brokers import client, unfenced_brokers
from tests.bench.compare.running import Running
from tests.bench.compare.scenario import LONG_SESSION, Load, Measure, Scenario
from tests.bench.compare.scripts import Echoed, Repeated, Script
from tests.bench.compare.subjects import SUBJECTS, Identity, Subject
from tests.support.wire.controller_client import FAR_AHEAD, HEARTBEAT_VERSION, StandInBroker

BROKERS: Final = 500


class EchoServer(Controller):
    """The floor, in the place of a controller."""

    NAME_PREFIX = "echo"

    def format(self) -> None:
        """It has no directory."""

    def command(self) -> list[str]:
        return [sys.executable, echo_server.__file__, str(self.port)]

    def await_ready(self, timeout_s: float = 10.0) -> None:
        await_result(lambda: accepts_connections(self.port), "the echo server listens", timeout_s)


def _echo(directory: Path, settings: Mapping[str, str], _heap: str, _identity: Identity) -> Controller:
    return EchoServer(0, directory, "", properties=settings)


ECHO: Final = Subject("echo", "uvloop echo", _echo)


@dataclass
class State:
    """What each broker sends."""

    running: Running
    scripts: list[Script]


def prepare(running: Running, brokers: int = BROKERS) -> State:
    if isinstance(running.controller, EchoServer):
        return State(running, [Echoed(len(heartbeat(1, 1))) for _ in range(brokers)])
    with client(running.port) as connection:
        registered = unfenced_brokers(connection, running.controller.cluster_id, brokers)
    return State(running, [heartbeats(broker) for broker in registered])


def heartbeat(broker_id: int, broker_epoch: int) -> bytes:
    """A frame."""
    request = BrokerHeartbeatRequest(
        broker_id=broker_id, broker_epoch=broker_epoch, current_metadata_offset=FAR_AHEAD
    )
    return request_frame(request, HEARTBEAT_VERSION)


def heartbeats(broker: StandInBroker, interval_s: float = 0.0) -> Repeated:
    """Of a broker that is unfenced and caught up."""
    answer = BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False)
    return Repeated(
        heartbeat(broker.broker_id, broker.broker_epoch),
        answer_frame(answer, HEARTBEAT_VERSION),
        BrokerHeartbeatRequest.API_KEY,
        HEARTBEAT_VERSION,
        interval_s,
    )


@contextmanager
def closed_loops(state: State, brokers: int) -> Iterator[Measure]:
    with state.running.load(state.scripts[:brokers]) as load:
        yield lambda seconds: state.running.measured(partial(load.run, seconds))


def load(brokers: int) -> Load:
    return Load(f"{brokers} brokers", partial(closed_loops, brokers=brokers))


SCENARIO: Final = Scenario(
    name="heartbeats",
    title="Heartbeats, closed loops: brokers",
    prepare=prepare,
    loads=(load(20), load(100), load(500)),
    settings=LONG_SESSION,
    subjects=(*SUBJECTS, ECHO),
)
