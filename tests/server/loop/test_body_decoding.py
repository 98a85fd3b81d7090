"""Long requests are decoded one after the other, while those that wait for responses leave room."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from kraftctl.apis.api_table import API_TABLE
from kraftctl.apis.request_size import LARGE_REQUESTS_MEMORY_BYTES_MAX
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.node.events import BodyRefused, ClientRequest
from kraftctl.server.loop.body_decoding import WAITING_BYTES_MAX, BodyDecoding
from kraftctl.server.loop.body_freeing import FREED_AT_ONCE_BYTES_MAX
from kraftctl.server.process.finished_call import Finished
from kraftctl.server.process.storage_threads import StorageThreads
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import AlterClientQuotasRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.principal import ANONYMOUS
from kraftctl_protocol.requests import RequestHead, decode_request_head
from tests.support.worst_requests import WORST_REQUESTS

WORST = next(each for each in WORST_REQUESTS if each.api_key == ApiKey.ALTER_CLIENT_QUOTAS)


class Ended:
    def __init__(self, result: Any, error: BaseException | None) -> None:
        self._result, self._error = result, error

    def exception(self) -> BaseException | None:
        return self._error

    def result(self) -> Any:
        return self._result


class World:
    """Scheduler, network and inbox."""

    def __init__(self) -> None:
        self.running: list[Callable[[], None]] = []
        self.later: list[Callable[[], None]] = []
        self.events: list[Any] = []
        self.gone: set[int] = set()
        self.decoded: dict[int, int] = {}
        self.ended = False
        this: Any = self
        self.decoding = BodyDecoding(this, this, this)

    def run_on_decoding_thread(self, call: Any, done: Callable[[Any], None]) -> None:
        def run() -> None:
            try:
                ended = Ended(call(lambda: None), None)
            except (DecodeError, MemoryError) as error:
                ended = Ended(None, error)
            done(ended)

        self.running.append(run)

    def call_later(self, delay_seconds: float, call: Callable[[], None]) -> None:
        self.later.append(call)

    def awaits(self, request_id: int) -> bool:
        return request_id not in self.gone

    @property
    def decoded_bytes(self) -> int:
        return sum(size for request_id, size in self.decoded.items() if self.awaits(request_id))

    def note_decoded(self, request_id: int, size_bytes: int) -> None:
        self.decoded[request_id] = size_bytes

    def offer(self, event: Any) -> None:
        self.events.append(event)

    def offer_in_turn(self, address: bytes, offer: Callable[[], None]) -> None:
        offer()

    def guarded(self, action: Callable[[], None]) -> None:
        action()

    def decode(self, request_id: int, head: Any) -> None:
        context = RequestContext(
            api=API_TABLE[head.api_key],
            version=head.version,
            client_id=None,
            principal=ANONYMOUS,
            listener="CONTROLLER",
            client_address=b"",
        )
        wanted: Any = SimpleNamespace(request_id=request_id, context=context, head=head)
        self.decoding.decode(wanted)

    def run(self) -> None:
        self.running.pop(0)()


def head(count: int) -> RequestHead:
    return decode_request_head(WORST.payload(count))


class FullHead:
    """As long as a test says, and takes as much memory."""

    api_key, version = int(WORST.api_key), WORST.version

    def __init__(self, size_bytes: int = 100, drawn_bytes: int = 100) -> None:
        self.size_bytes, self.drawn_bytes = size_bytes, drawn_bytes

    def decode_body(self, memory_bytes_max: int, pause: object) -> Message:
        return AlterClientQuotasRequest()


def test_one_after_the_other_in_order() -> None:
    world = World()
    for request_id in (1, 2, 3):
        world.decode(request_id, head(10))
    assert len(world.running) == 1
    while world.running:
        world.run()
        assert len(world.running) <= 1
    assert [(type(each), each.request_id) for each in world.events] == [
        (ClientRequest, 1),
        (ClientRequest, 2),
        (ClientRequest, 3),
    ]


def test_those_whose_connection_is_gone_are_left_out() -> None:
    world = World()
    for request_id in (1, 2, 3):
        world.decode(request_id, head(10))
    world.gone = {1, 2}
    world.run()
    world.run()
    assert [each.request_id for each in world.events] == [3]


def test_what_waits_for_answers_leaves_room_for_the_next() -> None:
    world = World()
    world.decode(1, FullHead(drawn_bytes=LARGE_REQUESTS_MEMORY_BYTES_MAX))
    world.run()
    world.decode(2, head(10))
    assert not world.running
    world.later.pop()()
    assert not world.running
    world.gone = {1}  # answered
    world.later.pop()()
    world.run()
    assert [each.request_id for each in world.events] == [1, 2]


def test_the_bytes_that_wait_are_limited() -> None:
    world = World()
    world.decode(1, FullHead(WAITING_BYTES_MAX))
    world.decode(2, FullHead(WAITING_BYTES_MAX - 100))
    world.decode(3, FullHead(100))
    world.decode(4, FullHead(1))
    (refused,) = world.events
    assert (type(refused), refused.request_id, refused.error) == (BodyRefused, 4, Errors.INVALID_REQUEST)


def test_long_ones_are_freed_beside_the_loop_once_they_were_handled() -> None:
    world = World()
    world.decode(1, FullHead(drawn_bytes=FREED_AT_ONCE_BYTES_MAX + 1))
    world.run()
    world.later.pop()()
    assert not world.running
    world.events.clear()
    world.later.pop()()
    world.run()
    assert not world.later


def test_what_is_no_longer_used_is_freed_before_the_next_is_decoded() -> None:
    world = World()
    world.decode(1, FullHead(drawn_bytes=FREED_AT_ONCE_BYTES_MAX + 1))
    world.run()
    world.events.clear()
    world.decode(2, head(10))
    world.run()
    assert not world.events
    world.run()
    assert [each.request_id for each in world.events] == [2]


def test_damage_and_excess_are_reported_apart() -> None:
    world = World()
    payload = WORST.payload(10)
    world.decode(1, decode_request_head(payload[:-1]))
    world.decode(2, head(400_000))
    world.run()
    world.run()
    assert [(each.request_id, each.error) for each in world.events] == [
        (1, Errors.UNSUPPORTED_VERSION),
        (2, Errors.INVALID_REQUEST),
    ]


def test_any_other_failure_concerns_this_request_alone() -> None:
    class Broken(FullHead):
        def decode_body(self, memory_bytes_max: int, pause: object) -> Message:
            raise MemoryError

    world = World()
    world.decode(1, Broken())
    world.run()
    (refused,) = world.events
    assert (refused.request_id, refused.reason) == (1, "MemoryError while it was decoded")


async def test_the_loop_turns_while_a_long_request_is_decoded() -> None:
    async def scenario() -> int:
        loop = asyncio.get_running_loop()
        threads = StorageThreads(loop)
        ended = asyncio.Event()
        long = head(100_000)
        threads.run_on_decoding_thread(
            lambda pause: long.decode_body(1 << 30, pause), lambda decoded: ended.set()
        )
        turns = 0
        while not ended.is_set():
            turns += 1
            await asyncio.sleep(0)
        await threads.stop()
        return turns

    assert await scenario() > 20


async def test_the_collector_does_not_look_at_what_is_decoded() -> None:
    """A million lists take it 100 ms, in which nothing else runs."""
    collections: list[int] = []
    bodies: list[Message] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            collections.append(info["generation"])

    async def scenario() -> None:
        threads = StorageThreads(asyncio.get_running_loop())
        ended = asyncio.Event()
        long = head(50_000)

        def done(decoded: Finished[Message]) -> None:
            bodies.append(decoded.result())
            ended.set()

        threads.run_on_decoding_thread(lambda pause: long.decode_body(1 << 30, pause), done)
        await ended.wait()
        await threads.stop()

    frozen = gc.get_freeze_count()
    gc.callbacks.append(note)
    try:
        await scenario()
        assert gc.get_freeze_count() >= frozen + 100_000
    finally:
        gc.callbacks.remove(note)
        gc.unfreeze()
    assert gc.isenabled()
    assert len(collections) < 20
