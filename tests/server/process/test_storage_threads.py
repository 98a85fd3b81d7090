"""When the threads beside the loop begin what they are given."""

from __future__ import annotations

import asyncio
import threading

from kraftctl.server.process.finished_call import Finished
from kraftctl.server.process.storage_threads import StorageThreads
from tests.server.serving import both_loops, eventually


@both_loops
async def test_a_flush_has_what_all_sockets_of_a_turn_append() -> None:
    appended: list[str] = []
    flushed: list[list[str]] = []
    begun = threading.Event()

    def flush() -> list[str]:
        begun.set()
        return list(appended)

    def done(finished: Finished[list[str]]) -> None:
        flushed.append(finished.result())

    threads = StorageThreads(asyncio.get_running_loop())
    appended.append("of the first socket")
    threads.run_on_flush_thread(flush, done)
    assert not begun.wait(0.1)
    appended.append("of the second")
    await eventually(lambda: bool(flushed))
    await threads.stop()
    assert flushed == [["of the first socket", "of the second"]]


@both_loops
async def test_no_flush_begins_once_the_threads_stop() -> None:
    """Closing the log flushes what is left."""
    flushed: list[Finished[None]] = []
    failed: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failed.append(context))
    threads = StorageThreads(asyncio.get_running_loop())
    stopping = asyncio.ensure_future(threads.stop())
    await asyncio.sleep(0)
    threads.run_on_flush_thread(lambda: None, flushed.append)
    await stopping
    threads.run_on_flush_thread(lambda: None, flushed.append)
    await asyncio.sleep(0)
    assert flushed == failed == []


@both_loops
async def test_what_ended_before_the_threads_stop_is_done_when_they_have_stopped() -> None:
    """The files are closed after that."""
    stored: list[Finished[bool]] = []
    threads = StorageThreads(asyncio.get_running_loop())
    may_end = threading.Event()
    threads.run_on_decoding_thread(lambda pause: may_end.wait(20), stored.append)
    threads.call_soon(may_end.set)
    await threads.stop()
    assert len(stored) == 1
