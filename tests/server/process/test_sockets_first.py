"""What has reached the sockets is read before a timer ends anything, on both loops, however late it is."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import ExitStack

import pytest
import uvloop

from kraftctl.server.process.sockets_first import answered_before, call_after_sockets

LOOPS = pytest.mark.parametrize("new_loop", [uvloop.new_event_loop, asyncio.new_event_loop])

HELD_UP_SECONDS = 0.05

NewLoop = Callable[[], asyncio.AbstractEventLoop]


class Sockets(ExitStack):
    """Pairs of sockets; `order` has what is read from them, and what a test adds."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []
        self.far_ends: list[socket.socket] = []
        self.on_read: Callable[[], None] = lambda: None

    async def open(self) -> None:
        near, far = map(self.enter_context, socket.socketpair())
        near.setblocking(False)
        name = f"socket {len(self.far_ends)}"
        self.far_ends.append(far)
        await asyncio.get_running_loop().create_connection(lambda: Reader(self, name), sock=near)

    def hold_up(self, timer: Callable[[], None]) -> None:
        """`timer` is due, and bytes come to all sockets, while the loop is busy with something else."""
        asyncio.get_running_loop().call_later(HELD_UP_SECONDS / 2, timer)
        for far in self.far_ends:
            far.send(b"x")
        threading.Event().wait(HELD_UP_SECONDS)
        self.order.append("held up")


class Reader(asyncio.Protocol):
    def __init__(self, sockets: Sockets, name: str) -> None:
        self._sockets = sockets
        self._name = name

    def data_received(self, data: bytes) -> None:
        self._sockets.order.append(self._name)
        self._sockets.on_read()


def run(new_loop: NewLoop, test: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(10):
            await test()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(main())


@LOOPS
@pytest.mark.parametrize("where", ["in a read", "in a call", "in a timer"])
def test_sockets_are_read_first(new_loop: NewLoop, where: str) -> None:
    """Wherever the loop was held up. uvloop runs the timer itself before the reads."""

    async def test() -> None:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def end() -> None:
            sockets.order.append("end")
            done.set()

        def hold_up() -> None:
            sockets.on_read = lambda: None
            sockets.hold_up(lambda: call_after_sockets(loop, end))

        with Sockets() as sockets:
            for _ in range(3):
                await sockets.open()
            if where == "in a read":
                sockets.on_read = hold_up
                sockets.far_ends[0].send(b"x")
            elif where == "in a call":
                loop.call_soon(hold_up)
            else:
                loop.call_later(0, hold_up)
            await done.wait()
            since = sockets.order.index("held up")
            assert sorted(sockets.order[since + 1 : -1]) == ["socket 0", "socket 1", "socket 2"]
            assert sockets.order[-1] == "end"

    run(new_loop, test)


@LOOPS
def test_tasks_that_wait_for_what_is_read_go_on_first(new_loop: NewLoop) -> None:
    """One of them offers the response of another controller to the node."""

    async def test() -> None:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def end() -> None:
            sockets.order.append("end")
            done.set()

        async def wait_for_answer() -> None:
            await reader.readexactly(1)
            sockets.order.append("answered")

        with Sockets() as sockets:
            near, far = map(sockets.enter_context, socket.socketpair())
            reader, writer = await asyncio.open_connection(sock=near)
            sockets.far_ends.append(far)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(wait_for_answer())
                await asyncio.sleep(0)
                sockets.hold_up(lambda: None)
                call_after_sockets(loop, end)
                await done.wait()
            assert sockets.order == ["held up", "answered", "end"]
            writer.close()
            await writer.wait_closed()

    run(new_loop, test)


@LOOPS
@pytest.mark.parametrize("where", ["in a read", "in a call"])
def test_an_answer_that_came_in_time_is_read(new_loop: NewLoop, where: str) -> None:
    """By a task that waits for it, in two parts, as those of other controllers."""

    async def test() -> None:
        loop = asyncio.get_running_loop()
        with Sockets() as sockets:
            await sockets.open()
            near, far = map(sockets.enter_context, socket.socketpair())
            reader, writer = await asyncio.open_connection(sock=near)

            def hold_up() -> None:
                sockets.on_read = lambda: None
                far.send(b"prefix, and the rest")
                sockets.hold_up(lambda: None)

            if where == "in a read":
                sockets.on_read = hold_up
                sockets.far_ends[0].send(b"x")
            else:
                loop.call_soon(hold_up)
            async with answered_before(loop, loop.time() + HELD_UP_SECONDS / 2):
                assert await reader.readexactly(6) == b"prefix"
                assert await reader.readexactly(14) == b", and the rest"
            writer.close()
            await writer.wait_closed()

    run(new_loop, test)


@LOOPS
@pytest.mark.parametrize("seconds", [-1.0, 0.0, 0.01])
def test_an_answer_that_does_not_come_times_out(new_loop: NewLoop, seconds: float) -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        with pytest.raises(TimeoutError):
            async with answered_before(loop, loop.time() + seconds):
                await asyncio.Event().wait()

    run(new_loop, test)


@LOOPS
def test_an_answer_ends_its_time(new_loop: NewLoop) -> None:
    """Also when the timer has run, and the sockets are being read for it."""

    async def test() -> None:
        loop = asyncio.get_running_loop()
        async with answered_before(loop, loop.time()):
            await asyncio.sleep(0)
        passed = asyncio.Event()
        loop.call_later(0.01, call_after_sockets, loop, passed.set)
        await passed.wait()

    run(new_loop, test)
