"""Frames of every API and version, damaged and dense, decoded as a controller decodes what clients send."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kraftctl.apis.api_table import API_TABLE
from kraftctl.metadata import features
from kraftctl.server.client_requests import receive_request
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import DecodeError, EncodeError
from kraftctl_protocol.requests import RequestHead, encode_request
from tests.attack.dense_bodies import DENSE, tags
from tests.attack.frames import envelope, request
from tests.support.active_controller import directory, request_type
from tests.support.simulator.virtual_time_loop import VirtualTimeLoop
from tests.support.wire.hosted_cluster import PROPERTIES, Population
from tests.support.wire.hosted_controller import HostedController, InvariantViolatedError, MemoryClient
from tests.support.wire.hostile_messages import HostileEdits, with_surrogates
from tests.support.wire.hostile_requests import HostileRequests
from tests.support.wire.mutated_bytes import MutatedBytes
from tests.support.wire.random_messages import RandomMessages
from tests.support.wire.request_hints import NUMBERS, WORDS

DAMAGED_PER_MESSAGE = 60
"""Damage costs a few microseconds, a new message a hundred times that."""

DENSE_CHANCE = 0.0005
DENSE_BYTES_MAX = 5_000_000
FRAME_BYTES_MAX = 6_000_000
ENTRIES_MAX = 30_000

KINDS = [
    (api_key, version)
    for api_key, api in sorted(API_TABLE.items())
    for version in range(api.lowest, api.highest + 1)
]
"""Every API and version that is served; the fuzzers take them in turn."""


class RequestFrames:
    """Well-formed, hostile, dense and damaged requests. Everything is decided by `rng`."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._messages = RandomMessages(rng, WORDS, [bytes(16), directory(10)], NUMBERS, {})
        self._edits = HostileEdits(rng)
        self._bytes = MutatedBytes(rng)
        self._turn = rng.randrange(len(KINDS))

    def family(self) -> Iterator[bytes]:
        """A request and its damaged copies."""
        self._turn = (self._turn + 1) % len(KINDS)
        api_key, version = KINDS[self._turn]
        try:
            payload = self._payload(api_key, version)
        except EncodeError:
            return
        if len(payload) > FRAME_BYTES_MAX:
            return
        if self._rng.random() < 0.05:
            payload = envelope(payload)
        yield payload
        copies = DAMAGED_PER_MESSAGE if len(payload) < 10_000 else 1
        for _ in range(copies):
            yield self._bytes.mutated(payload)

    def _payload(self, api_key: int, version: int) -> bytes:
        rng = self._rng
        if rng.random() < DENSE_CHANCE:
            return DENSE[rng.choice(sorted(DENSE))](rng.randint(1, DENSE_BYTES_MAX))
        if rng.random() < DENSE_CHANCE:
            section = tags(rng.randint(1, DENSE_BYTES_MAX))
            return request(api_key, version, b"", tags=section) + rng.choice((b"", section))
        message = self._messages.message(request_type(api_key), version)
        if rng.random() < 0.5:
            message = self._edits.edited(message, version)
        if rng.random() < DENSE_CHANCE:
            self._repeat(message, version)
        header = RequestHeader(
            request_api_key=api_key, request_api_version=version, correlation_id=77, client_id="fuzz"
        )
        return with_surrogates(encode_request(header, message))

    def _repeat(self, message: Message, version: int) -> None:
        """One array of the message, at any depth, with as many empty entries as there may be."""
        arrays: list[tuple[Message, Field]] = []
        _find_arrays(message, version, arrays)
        if arrays:
            owner, field = self._rng.choice(arrays)
            assert field.struct is not None
            setattr(owner, field.name, [field.struct()] * self._rng.randint(1, ENTRIES_MAX))


def _find_arrays(message: Message, version: int, found: list[tuple[Message, Field]]) -> None:
    for field in message.FIELDS:
        if field.struct is None or not field.in_version(version):
            continue
        value = getattr(message, field.name)
        if field.type.startswith("[]"):
            found.append((message, field))
            for entry in (value or [])[:2]:
                _find_arrays(entry, version, found)
        elif isinstance(value, Message):
            _find_arrays(value, version, found)


class DecodedRequests:
    """Decodes each frame with the budget of its API: as a connection does, or as is done beside the loop."""

    def __init__(self, rng: random.Random) -> None:
        self._frames = RequestFrames(rng)

    def family(self) -> Iterator[bytes]:
        return self._frames.family()

    def feed(self, data: bytes) -> str:
        received = receive_request(data)
        if isinstance(received, str):
            return "refused"
        content = received.take_content()
        if isinstance(content, RequestHead):
            try:
                content.decode_body(received.api.size.memory_bytes_max)
            except DecodeError:
                return "refused_beside_the_loop"
            return "decoded_beside_the_loop"
        return "decoded"

    def close(self) -> None:
        """Nothing is held."""


FRAMES_PER_CONTROLLER = 20_000
"""Then a new one: random requests fill the image."""


class HandledRequests:
    """Sends each frame to a whole controller, on a loop with virtual time, and waits for the answer."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._bytes = MutatedBytes(rng)
        self._frames = RequestFrames(rng)
        self._fed = 0
        self._runner: asyncio.Runner | None = None
        self._place: tempfile.TemporaryDirectory[str] | None = None
        self._hosted: HostedController
        self._population: Population
        self._requests: HostileRequests
        self._client: MemoryClient
        self._begin()

    def family(self) -> Iterator[bytes]:
        """Most are valid for this controller, or nearly so: they come to the handlers."""
        if self._fed >= FRAMES_PER_CONTROLLER:
            self.close()
            self._begin()
        for _ in range(20):
            payload = self._requests.next().payload
            yield payload
            for _ in range(3 if len(payload) < 10_000 else 0):
                yield self._bytes.mutated(payload)
        yield from self._frames.family()

    def feed(self, data: bytes) -> str:
        self._fed += 1
        assert self._runner is not None
        return self._runner.run(self._exchange(data))

    def close(self) -> None:
        if self._runner is not None and self._place is not None:
            self._runner.run(self._hosted.stop())
            self._runner.close()
            self._place.cleanup()
            self._runner = None

    def _begin(self) -> None:
        shared_memory = Path("/dev/shm")
        self._fed = 0
        self._place = tempfile.TemporaryDirectory(
            prefix="fuzz-", dir=shared_memory if shared_memory.is_dir() else None
        )
        self._runner = asyncio.Runner(loop_factory=VirtualTimeLoop)
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
        self._client = self._hosted.connect()
        self._requests = HostileRequests(self._hosted, self._rng)
        await self._population.settle_in()

    async def _exchange(self, data: bytes) -> str:
        if self._client.closed:
            self._client = self._hosted.connect()
        self._client.send(encode_frame(data))
        try:
            payload = await self._client.receive()
        except TimeoutError as error:
            self._hosted.check_alive()
            raise InvariantViolatedError("a request was not answered") from error
        self._hosted.check_alive()
        return "closed" if payload is None else "answered"
