"""What a running controller does on signals: stop, read keys again, dump its stacks. None ends it uncleanly.

| signal | outcome |
|---|---|
| SIGTERM, SIGINT | a clean stop |
| SIGQUIT | the stacks of all threads and asyncio tasks, as a JVM's thread dump; longest turn; collections |
| SIGHUP | keystores and truststores are read again; Kafka's controllers would end |
| SIGUSR1, SIGUSR2 | a line in the log; Kafka's controllers would end |
| SIGPIPE | nothing: Python ignores it, and a broken connection is an error of that connection |
"""

from __future__ import annotations

import asyncio
import io
import logging
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from kraftctl.cli.loop_stack import LoopStack
from kraftctl.server.loop.turn_probe import TurnProbe
from kraftctl.server.process.collector import Collector

IGNORED: Final = (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)

logger = logging.getLogger("kraftctl.server")


@contextmanager
def survived() -> Iterator[None]:
    """Keeps signals of `IGNORED`, and SIGQUIT, from ending the process meanwhile: a start may take long."""
    before = [(number, signal.signal(number, _ignored)) for number in (*IGNORED, signal.SIGQUIT)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def handled(
    stop: asyncio.Event, reload: asyncio.Event, probe: TurnProbe, collector: Collector
) -> Iterator[None]:
    """Handles signals while the loop serves; SIGTERM and SIGINT set `stop`, SIGHUP sets `reload`.

    SIGQUIT writes the longest turn that `probe` has seen since the SIGQUIT before, and the runs of the
    cyclic collector since the start.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _stop, stop, number)
    for number in IGNORED:
        loop.add_signal_handler(number, _ignored, number)
    loop.add_signal_handler(signal.SIGHUP, _reload, reload)
    loop_stack: list[LoopStack] = []
    loop.add_signal_handler(signal.SIGQUIT, _dump_stacks, loop, loop_stack, probe, collector)
    loop_stack.append(LoopStack())
    try:
        yield
    finally:
        loop_stack.pop().close()
        for number in (*IGNORED, signal.SIGQUIT):
            loop.remove_signal_handler(number)
            signal.signal(number, _ignored)


def _stop(stop: asyncio.Event, number: signal.Signals) -> None:
    logger.info("Stopping on %s", number.name)
    stop.set()


def _reload(reload: asyncio.Event) -> None:
    logger.info("SIGHUP: reading keystores and truststores again; other properties need a restart")
    reload.set()


def _ignored(number: int, frame: FrameType | None = None) -> None:
    logger.info("Ignoring %s", signal.Signals(number).name)


def _dump_stacks(
    loop: asyncio.AbstractEventLoop, loop_stack: list[LoopStack], probe: TurnProbe, collector: Collector
) -> None:
    for each in loop_stack:
        each.log()
    tasks = sorted(asyncio.all_tasks(loop), key=_name_of)
    frames = sys._current_frames()
    threads = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    logger.info(
        "Stacks on SIGQUIT: %d other threads and %d asyncio tasks; that of the loop is above",
        len(threads),
        len(tasks),
    )
    for thread in threads:
        frame = None if thread.ident is None else frames.get(thread.ident)
        logger.info("Thread %s (most recent call last):", thread.name)
        _log_lines("".join(traceback.format_stack(frame)) if frame is not None else "it has ended")
    for task in tasks:
        text = io.StringIO()
        task.print_stack(file=text)
        _log_lines(text.getvalue())
    turn_ns, cause = probe.take_recent()
    logger.info("Longest turn since the dump before: %.1f ms, %s", turn_ns / 1e6, cause or "none")
    logger.info("Cyclic collector since the start: %s", collector)
    logger.info("End of the stacks")


def _log_lines(text: str) -> None:
    for line in text.splitlines():
        logger.info("%s", line)


def _name_of(task: asyncio.Task[object]) -> str:
    return task.get_name()
