"""Frames of every API and version, most of them nearly valid, for a whole controller that handles them."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kraftctl.controller.results.response_entries import ResponseTooLongError
from kraftctl.metadata import features
from kraftctl.server.loop.client_requests import receive_request
from kraftctl_protocol.frames import encode_frame
from tests.support.simulator.cluster.virtual_time_loop import VirtualTimeLoop
from tests.support.wire.fuzz_outcomes import KIND_BYTES, Outcomes
from tests.support.wire.fuzzed_requests import RequestFrames
from tests.support.wire.hosted_cluster import PROPERTIES, Population
from tests.support.wire.hosted_controller import HostedController, InvariantViolatedError, MemoryClient
from tests.support.wire.hostile_requests import HostileRequests
from tests.support.wire.hostile_round import ErrorLines
from tests.support.wire.mutated_blocks import Base, MutatedBlocks

FRAMES_PER_CONTROLLER = 20_000
"""Then a new one: random requests fill the image."""

BASES = 12
COPIES = 800

RANDOM_COPIES = 100
"""Of requests that know nothing of the controller: half of the blocks are theirs."""

REFUSED_SHARE = 40
"""Of the copies that do not decode, one in so many is sent: it closes its connection."""

CLIENTS = 16
"""So many requests wait for a commit together."""

LEADERLESS_SECONDS_MAX = 30

LONG_RESPONSE = re.compile(rf"EncodeError: string of \d+ bytes|{ResponseTooLongError.__name__}")
"""A response would repeat a string of nearly 32 KiB with some words around it, or have too many entries."""

LOGGER = logging.getLogger("kraftctl")


class HandledRequests:
    """Sends frames to a whole controller, on a loop with virtual time, and waits for the responses.

    A failure that the controller contains is logged at level ERROR; here it is a find.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._frames = RequestFrames(rng)
        self._copies = MutatedBlocks(rng, in_place=True)
        self._errors = ErrorLines()
        self._fed = 0
        self._runner: asyncio.Runner | None = None
        self._place: tempfile.TemporaryDirectory[str] | None = None
        self._hosted: HostedController
        self._population: Population
        self._requests: HostileRequests
        self._idle: list[MemoryClient]
        self._begin()

    def blocks(self) -> Iterator[list[bytes]]:
        """Most are valid for this controller, or nearly so: they come to the handlers."""
        assert self._runner is not None
        if self._fed >= FRAMES_PER_CONTROLLER or not self._runner.run(self._settled()):
            self.close()
            self._begin()
        payloads = [self._requests.next().payload for _ in range(BASES)]
        yield payloads
        yield self._mostly_decoded(self._copies.copies([Base(payload) for payload in payloads], COPIES))
        for block in self._frames.blocks(RANDOM_COPIES):
            yield self._mostly_decoded(block)

    def feed(self, block: list[bytes], outcomes: Outcomes) -> None:
        self._fed += len(block)
        assert self._runner is not None
        self._runner.run(self._exchange(block, outcomes))

    def close(self) -> None:
        LOGGER.removeHandler(self._errors)
        if self._runner is not None and self._place is not None:
            self._runner.run(self._hosted.stop())
            self._runner.close()
            self._place.cleanup()
            self._runner = None

    def _mostly_decoded(self, block: list[bytes]) -> list[bytes]:
        refused: list[bytes] = []
        decoded: list[bytes] = []
        for data in block:
            (refused if isinstance(receive_request(data), str) else decoded).append(data)
        return decoded + refused[::REFUSED_SHARE]

    def _begin(self) -> None:
        shared_memory = Path("/dev/shm")
        self._fed = 0
        self._place = tempfile.TemporaryDirectory(
            prefix="fuzz-", dir=shared_memory if shared_memory.is_dir() else None
        )
        self._runner = asyncio.Runner(loop_factory=VirtualTimeLoop)
        LOGGER.addHandler(self._errors)
        self._runner.run(self._settle_in(Path(self._place.name)))

    async def _settle_in(self, place: Path) -> None:
        self._hosted = HostedController(
            place,
            self._rng,
            dynamic=self._rng.random() < 0.5,
            metadata_version=features.LATEST_PRODUCTION,
            properties=PROPERTIES,
        )
        self._hosted.start()
        self._population = Population(self._hosted, self._rng)
        self._idle = [self._hosted.connect() for _ in range(CLIENTS)]
        self._requests = HostileRequests(self._hosted, self._rng)
        await self._population.settle_in()

    async def _settled(self) -> bool:
        """Brokers are back; False when a request has permanently taken the quorum away (KIP-853)."""
        for _ in range(LEADERLESS_SECONDS_MAX * 10):
            if self._hosted.active:
                await self._population.keep_alive()
                return True
            await asyncio.sleep(0.1)
        return False

    async def _exchange(self, block: list[bytes], outcomes: Outcomes) -> None:
        waiting: list[tuple[MemoryClient, bytes]] = []
        for data in block:
            client = self._idle.pop()
            client.send(encode_frame(data))
            if client.has_answer:
                await self._receive(client, data, outcomes)
            else:
                waiting.append((client, data))
            if not self._idle:
                await self._receive_all(waiting, outcomes)
        await self._receive_all(waiting, outcomes)

    async def _receive_all(self, waiting: list[tuple[MemoryClient, bytes]], outcomes: Outcomes) -> None:
        for client, data in waiting:
            await self._receive(client, data, outcomes)
        waiting.clear()

    async def _receive(self, client: MemoryClient, data: bytes, outcomes: Outcomes) -> None:
        try:
            payload = await client.receive()
        except TimeoutError as error:
            self._hosted.check_alive()
            raise InvariantViolatedError("a request was not answered") from error
        self._hosted.check_alive()
        for line in self._errors.take():
            if not LONG_RESPONSE.search(line):
                raise InvariantViolatedError(line)
            outcomes.counts["too_long_to_answer"] += 1
        if payload is None:
            outcomes.counts["closed"] += 1
        else:
            outcomes.counts["answered"] += 1
            outcomes.kinds[data[:KIND_BYTES]] += 1
        self._idle.append(self._hosted.connect() if client.closed else client)
