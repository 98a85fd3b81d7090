"""The whole pipeline in a process group that is killed with -9: tables, history and publication."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing.context import ForkServerContext

from kraftctl_spark.cli import main

ENDED_S = 1_200.0


class KillGroupAtStep:
    """Kills the export and all of its workers right after the n-th step of one of them."""

    def __init__(self, number: int) -> None:
        self._left = number

    def __call__(self, step: str) -> None:
        self._left -= 1
        if self._left == 0:
            _kill_group()


def _kill_group() -> None:
    os.killpg(os.getpgrp(), signal.SIGKILL)


def run_and_die(arguments: list[str], environment: dict[str, str], step: int, after_s: float | None) -> None:
    """The work of a child process, which ends by itself if it has fewer steps, or is faster."""
    os.setsid()
    os.environ.update(environment)
    if after_s is not None:
        timer = threading.Timer(after_s, _kill_group)
        timer.daemon = True
        timer.start()
    code = main(arguments, KillGroupAtStep(step))
    os._exit(code)


def processes() -> ForkServerContext:
    """A server of processes that have imported everything."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.spark.stores.killed_lake", "tests.spark.stores.imported_lake"])
    return context


def killed(context: ForkServerContext, arguments: list[str], step: int, after_s: float | None) -> bool:
    """Runs the command; returns whether it was killed before its end."""
    child = context.Process(target=run_and_die, args=(arguments, dict(os.environ), step, after_s))
    child.start()
    child.join(ENDED_S)
    assert child.exitcode in (0, -signal.SIGKILL), child.exitcode
    return child.exitcode != 0
