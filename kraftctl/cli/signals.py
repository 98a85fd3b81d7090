"""What a running controller does on signals: stop, read keys again, dump its stacks. None ends it uncleanly.

| signal | outcome |
|---|---|
| SIGTERM, SIGINT | a clean stop |
| SIGQUIT | the stacks of all threads and asyncio tasks, as a JVM's thread dump |
| SIGHUP | keystores and truststores are read again; Kafka's controllers would end |
| SIGUSR1, SIGUSR2 | a line in the log; Kafka's controllers would end |
| SIGPIPE | nothing: Python ignores it, and a broken connection is an error of that connection |
"""

from __future__ import annotations

import asyncio
import faulthandler
import io
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

IGNORED: Final = (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)

logger = logging.getLogger("kraftctl.server")


@contextmanager
def survived() -> Iterator[None]:
    """No signal of `IGNORED`, nor SIGQUIT, ends the process meanwhile: a start may take long."""
    before = [(number, signal.signal(number, _ignored)) for number in (*IGNORED, signal.SIGQUIT)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def handled(stop: asyncio.Event, reload: asyncio.Event) -> Iterator[None]:
    """While the running loop serves; `stop` is set by SIGTERM and SIGINT, `reload` by SIGHUP."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _stop, stop, number)
    for number in IGNORED:
        loop.add_signal_handler(number, _ignored, number)
    loop.add_signal_handler(signal.SIGHUP, _reload, reload)
    loop.add_signal_handler(signal.SIGQUIT, _dump_tasks, loop)
    dumps_threads = _dump_threads_on_quit()
    try:
        yield
    finally:
        if dumps_threads:
            faulthandler.unregister(signal.SIGQUIT)
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


def _dump_threads_on_quit() -> bool:
    """By a handler in C, so that the stacks of a blocked loop are written, too: into the same output as the
    log. Then the handler that was there before is called. False when that output is no file."""
    try:
        faulthandler.register(signal.SIGQUIT, file=sys.stdout, all_threads=True, chain=True)
    except (AttributeError, OSError, ValueError):
        return False
    return True


def _dump_tasks(loop: asyncio.AbstractEventLoop) -> None:
    tasks = sorted(asyncio.all_tasks(loop), key=_name_of)
    logger.info("Stacks on SIGQUIT: %d asyncio tasks; the threads are above", len(tasks))
    for task in tasks:
        text = io.StringIO()
        task.print_stack(file=text)
        for line in text.getvalue().splitlines():
            logger.info("%s", line)
    logger.info("End of the stacks")


def _name_of(task: asyncio.Task[object]) -> str:
    return task.get_name()
