"""Calls on a thread beside the loop: in order, their ends on the loop, and nothing of them kept."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from functools import partial

import pytest
import uvloop

from kraftctl.server.process.finished_call import Finished
from kraftctl.server.process.worker_thread import WorkerThread
from tests.server.serving import both_loops, eventually


def named(number: int) -> str:
    return f"{threading.current_thread().name} {number}"


class Large:
    """What a call works on, or returns."""


@both_loops
async def test_calls_run_in_order_on_one_thread_and_end_on_the_loop() -> None:
    ended: list[tuple[int, str]] = []
    thread = WorkerThread(asyncio.get_running_loop(), "worker")

    def done(finished: Finished[str]) -> None:
        ended.append((threading.get_ident(), finished.result()))

    for number in range(100):
        thread.run(partial(named, number), done)
    await eventually(lambda: len(ended) == 100)
    thread.stop()
    thread.close()
    here = threading.get_ident()
    assert ended == [(here, f"worker {number}") for number in range(100)]


@both_loops
async def test_a_failure_is_reported_and_the_thread_goes_on() -> None:
    ended: list[Finished[float]] = []
    thread = WorkerThread(asyncio.get_running_loop(), "worker")
    for divisor in (0, 4):
        thread.run(partial(lambda by: 1 / by, divisor), ended.append)
    await eventually(lambda: len(ended) == 2)
    thread.stop()
    thread.close()
    failed, calculated = ended
    assert isinstance(failed.exception(), ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        failed.result()
    assert (calculated.exception(), calculated.result()) == (None, 0.25)


@both_loops
async def test_a_thread_that_waits_keeps_nothing_of_its_last_call() -> None:
    """Decoded requests take 128 MiB."""
    thread = WorkerThread(asyncio.get_running_loop(), "worker")
    taken, returned = Large(), Large()
    freed: list[weakref.ref[Large]] = [weakref.ref(taken), weakref.ref(returned)]

    def call(taken: Large, returned: Large) -> Large:
        return returned

    thread.run(partial(call, taken, returned), lambda finished: None)
    del taken, returned
    await eventually(lambda: all(each() is None for each in freed))
    thread.stop()
    thread.close()


@both_loops
async def test_ends_that_come_together_are_all_reported() -> None:
    """The loop is woken up once for several."""
    third_runs = threading.Event()
    ended: list[Finished[None]] = []
    thread = WorkerThread(asyncio.get_running_loop(), "worker")
    for call in (lambda: None, lambda: None, third_runs.set):
        thread.run(call, ended.append)
    assert third_runs.wait(20)  # on the loop, which is late
    await eventually(lambda: len(ended) == 3)
    thread.stop()
    thread.close()


@both_loops
async def test_what_ended_before_the_stop_is_reported_after_it() -> None:
    """A log that was flushed is not flushed again."""
    ended: list[Finished[None]] = []
    thread = WorkerThread(asyncio.get_running_loop(), "worker")
    thread.run(lambda: None, ended.append)
    thread.stop()
    assert not ended
    thread.close()
    await asyncio.sleep(0)
    assert len(ended) == 1


def test_descriptors_are_given_back() -> None:
    before = len(os.listdir("/proc/self/fd"))
    loop = asyncio.SelectorEventLoop()
    for _ in range(2):
        thread = WorkerThread(loop, "worker")
        thread.run(lambda: None, lambda finished: None)
        for _ in range(2):  # a driver may be stopped again
            thread.stop()
            thread.close()
        WorkerThread(loop, "worker").close()
    loop.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_stop_waits_for_all_calls_even_when_the_loop_is_closed_meanwhile() -> None:
    """The files are closed after that."""
    may_end = threading.Event()
    made: list[int] = []

    def call(number: int) -> None:
        assert may_end.wait(20)
        made.append(number)

    loop = uvloop.new_event_loop()
    thread = WorkerThread(loop, "worker")
    for number in range(3):
        thread.run(partial(call, number), lambda finished: None)
    loop.close()
    stopping = threading.Thread(target=thread.stop)
    stopping.start()
    assert stopping.is_alive()
    may_end.set()
    stopping.join()
    assert made == [0, 1, 2]


def test_a_thread_without_calls_is_stopped_before_it_begins() -> None:
    loop = uvloop.new_event_loop()
    thread = WorkerThread(loop, "worker")
    thread.stop()
    thread.close()
    loop.close()
