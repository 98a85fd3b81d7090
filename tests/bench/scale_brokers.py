"""Stand-in brokers: they register and send heartbeats, and each heartbeat is timed.

All of them are tasks of one event loop, with a connection each. They claim to have read all metadata.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from tests.bench.scale_connection import Connection
from tests.support.wire.controller_client import FAR_AHEAD, FEATURES_OF_4_3

HEARTBEATS_PER_S: Final = 200
"""Of all brokers together, for a 99th percentile in short phases; 100 brokers send two a second each."""

INTERVAL_SECONDS_MIN: Final = 0.1
RESPONSE_SECONDS_MAX: Final = 30.0
"""Kafka's controller.socket.timeout.ms: a broker waits no longer for a response."""
RETRY_S: Final = 0.05

RUNNING, FENCING, SHUTTING_DOWN, SILENT = "running", "fencing", "shutting down", "silent"


@dataclass(slots=True)
class Heartbeat:
    """`answered_s` is None as long as there is no response; `lost_s` is when its connection ended instead."""

    broker_id: int
    sent_s: float
    answered_s: float | None = None
    lost_s: float | None = None
    error_code: int = 0
    is_fenced: bool = False


class StandIn:
    """One broker. What its heartbeats ask for is its `mode`, which may change at any time."""

    def __init__(self, broker_id: int, brokers: StandIns, interval_s: float) -> None:
        self.broker_id = broker_id
        self.mode = SILENT
        self.epoch = -1
        self.incarnation = 0
        self.answer: BrokerHeartbeatResponse | None = None
        """The last one, unless it is an error."""
        self.registered = asyncio.Event()
        self._brokers = brokers
        self._interval_s = interval_s
        self._connection = Connection(0, f"broker-{broker_id}")
        self._port = 0
        self._answered = asyncio.Condition()

    def begin_incarnation(self) -> None:
        """Register before the next heartbeat, as a broker that has started again."""
        self.incarnation += 1
        self.epoch = -1
        self.registered.clear()

    async def until(self, holds: Callable[[BrokerHeartbeatResponse], bool]) -> None:
        """Returns with the first answer from now on for which that is so."""
        self.answer = None
        async with self._answered:
            await self._answered.wait_for(lambda: self.answer is not None and holds(self.answer))

    async def run(self) -> None:
        """For ever."""
        due_s = time.monotonic() + self._interval_s * random.random()
        while True:
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))
            due_s = max(due_s + self._interval_s, time.monotonic())
            if self.mode == SILENT or self._brokers.port == 0:
                continue
            if self._port != self._brokers.port:
                self._connection.close()
                self._port = self._brokers.port
                self._connection = Connection(self._port, f"broker-{self.broker_id}")
            if self.epoch < 0:
                await self._register()
            else:
                await self._heartbeat()

    async def _register(self) -> None:
        request = BrokerRegistrationRequest(
            broker_id=self.broker_id,
            cluster_id=self._brokers.cluster_id,
            incarnation_id=self.incarnation.to_bytes(8, "big") + self.broker_id.to_bytes(8, "big"),
            listeners=[Listener(name="PLAINTEXT", host="localhost", port=10_000 + self.broker_id)],
            features=[
                Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in FEATURES_OF_4_3.items()
            ],
            log_dirs=[(10_000 + self.broker_id).to_bytes(16, "big")],
        )
        try:
            response = await self._connection.call(
                request, 4, BrokerRegistrationResponse, RESPONSE_SECONDS_MAX
            )
        except (OSError, TimeoutError):
            self._brokers.lost()
            return
        if response.error_code == Errors.NONE:
            self.epoch = response.broker_epoch
            self.registered.set()

    async def _heartbeat(self) -> None:
        request = BrokerHeartbeatRequest(
            broker_id=self.broker_id,
            broker_epoch=self.epoch,
            current_metadata_offset=FAR_AHEAD,
            want_fence=self.mode == FENCING,
            want_shut_down=self.mode == SHUTTING_DOWN,
        )
        sent = Heartbeat(self.broker_id, time.monotonic())
        self._brokers.heartbeats.append(sent)
        try:
            answer = await self._connection.call(request, 1, BrokerHeartbeatResponse, RESPONSE_SECONDS_MAX)
        except (OSError, TimeoutError):
            sent.lost_s = time.monotonic()
            self._brokers.lost()
            return
        sent.answered_s = time.monotonic()
        sent.error_code = answer.error_code
        sent.is_fenced = answer.is_fenced
        if answer.error_code == Errors.NONE:
            async with self._answered:
                self.answer = answer
                self._answered.notify_all()


class StandIns:
    """Brokers 0, 1, ... of one cluster, and where they find the active controller.

    `port` is that of the active controller, 0 while none is known; the watch of the quorum sets it.
    """

    def __init__(self, cluster_id: str, count: int) -> None:
        interval_s = max(INTERVAL_SECONDS_MIN, count / HEARTBEATS_PER_S)
        self.cluster_id = cluster_id
        self.port = 0
        self.heartbeats: list[Heartbeat] = []
        self.brokers = {number: StandIn(number, self, interval_s) for number in range(count)}
        self.interval_s = interval_s
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        for broker in self.brokers.values():
            self._tasks.append(asyncio.create_task(broker.run()))

    def add(self, broker_id: int) -> StandIn:
        """One more, which runs from now on."""
        broker = self.brokers[broker_id] = StandIn(broker_id, self, self.interval_s)
        broker.mode = RUNNING
        self._tasks.append(asyncio.create_task(broker.run()))
        return broker

    def set_modes(self, mode: str) -> None:
        for broker in self.brokers.values():
            broker.mode = mode

    async def await_unfenced(self, broker_ids: Iterable[int]) -> None:
        await asyncio.gather(
            *(self.brokers[number].until(lambda answer: not answer.is_fenced) for number in broker_ids)
        )

    def lost(self) -> None:
        """A connection: perhaps the controller does not run any more."""

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def state(self) -> dict[str, list[int]]:
        """Epoch and incarnation of each, for another run with the same directories."""
        return {str(number): [broker.epoch, broker.incarnation] for number, broker in self.brokers.items()}

    def restore(self, state: dict[str, list[int]]) -> None:
        for number, (epoch, incarnation) in state.items():
            broker = self.brokers[int(number)]
            broker.epoch, broker.incarnation = epoch, incarnation
            broker.registered.set()
