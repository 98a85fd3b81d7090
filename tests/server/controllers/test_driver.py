"""The loop around the node: its end, and the log lines of the node."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest

from kraftctl.controller.results.notice_sources import CONTROLLER, REGISTRATION, SNAPSHOT
from kraftctl.node.events import RequestFailed
from kraftctl.raft import effects, events
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from tests.server.drivers import driver_of


class Node:
    """Asks for one flush at the start and for another one when that has ended."""

    next_deadline_ms = None
    may_stop = True

    def __init__(self) -> None:
        self.flushed: list[int] = []

    def step(self, event: object, now_ms: int, wall_ms: int) -> list[object]:
        if isinstance(event, events.Started):
            return [effects.FlushLog(1)]
        if isinstance(event, events.LogFlushed):
            self.flushed.append(event.end_offset)
            return [effects.FlushLog(2)]
        return []


class Storage:
    """A disk whose fsync lasts until `may_end` is set."""

    snapshots = None

    def __init__(self) -> None:
        self.log = self
        self.may_end = threading.Event()

    def flush(self) -> int:
        assert self.may_end.wait(20)
        return 1


async def test_what_is_appended_during_the_last_flush_is_left_to_the_end_of_the_log() -> None:
    """Closing the log flushes it; the node is not notified any more."""
    node: Any = Node()
    storage: Any = Storage()
    driver = driver_of(node, storage)
    driver.start()
    stopping = asyncio.ensure_future(driver.stop())
    while not driver._threads._flush_thread.is_stopping:
        await asyncio.sleep(0)
    storage.may_end.set()
    await stopping
    while not node.flushed:
        await asyncio.sleep(0)
    assert not driver.failed.done(), driver.failed.exception()


class OverdueNode(Node):
    """Fails immediately, and its deadline has passed."""

    next_deadline_ms = 0  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    def step(self, event: object, now_ms: int, wall_ms: int) -> list[object]:
        self.steps += 1
        raise AssertionError("a broken invariant")


async def test_after_a_failure_nothing_is_processed_and_no_timer_runs() -> None:
    """An overdue deadline would keep the loop busy, and the inbox growing, until the process has stopped."""
    node: Any = OverdueNode()
    storage: Any = Storage()
    driver = driver_of(node, storage)
    driver.start()
    driver.offer(events.DeadlineReached())
    loop = driver._node_loop
    assert (node.steps, len(loop._inbox), loop._deadlines._timer) == (1, 0, None)
    assert isinstance(driver.failed.exception(), AssertionError)


class NoticingNode(Node):
    """Emits a notice from each of its parts."""

    def step(self, event: object, now_ms: int, wall_ms: int) -> list[object]:
        return [
            effects.Notice(effects.RAFT, effects.INFO, "voted"),
            effects.Notice(CONTROLLER, effects.DEBUG, "refused"),
            effects.Notice(SNAPSHOT, effects.WARN, "slow"),
            effects.Notice(REGISTRATION, effects.ERROR, "unknown"),
            RequestFailed(CONTROLLER, "failed"),
        ]


async def test_a_notice_is_logged_under_its_source_and_level(caplog: pytest.LogCaptureFixture) -> None:
    """Operators filter by logger, and turn on what is logged at DEBUG."""

    async def scenario() -> None:
        node: Any = NoticingNode()
        storage: Any = Storage()
        driver_of(node, storage).start()

    with caplog.at_level(logging.DEBUG, "kraftctl"):
        await scenario()
    assert [line for line in caplog.record_tuples if line[0] != "asyncio"] == [
        ("kraftctl.raft", logging.INFO, "voted"),
        ("kraftctl.controller", logging.DEBUG, "refused"),
        ("kraftctl.snapshot", logging.WARNING, "slow"),
        ("kraftctl.registration", logging.ERROR, "unknown"),
        ("kraftctl.controller", logging.ERROR, "failed"),
    ]


class AskingNode(Node):
    """Knows a leader at which nothing listens, and keeps the events that it gets."""

    def __init__(self) -> None:
        super().__init__()
        self.raft = self
        self.leader_id, self.leader_address = 2, ("127.0.0.1", 1)
        self.processed: list[object] = []

    def take_send_id(self) -> int:
        return 7

    def step(self, event: object, now_ms: int, wall_ms: int) -> list[object]:
        self.processed.append(event)
        return []


async def test_the_response_to_a_question_that_was_given_up_is_dropped() -> None:
    """Raft sent no such request: a page of the probes did, and it did not wait longer."""
    node: Any = AskingNode()
    storage: Any = Storage()
    driver = driver_of(node, storage)
    asking = asyncio.ensure_future(driver.ask_leader(DescribeQuorumRequest(topics=[])))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    while driver._asked:
        await asyncio.sleep(0.001)
    driver.offer(events.DeadlineReached())
    assert [type(event) for event in node.processed] == [events.DeadlineReached]
    await driver.stop()
