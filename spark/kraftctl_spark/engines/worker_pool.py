"""Runs tasks of an export in processes of this machine.

A worker that is killed ends all of them, as in every pool of `concurrent.futures`: what they had not finished
runs again in new ones. A task leaves hidden files only, so nothing of an earlier attempt counts.

Workers end with their parent, however it ends: each waits for the end of a pipe that only the parent holds.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType

from kraftctl_spark.engines.engine import IDLE_WAIT_S, no_failure
from kraftctl_spark.tables.export_tasks import ExportTask, TaskReport, TaskSettings, run_task

ATTEMPTS = 4
"""How often in a row a worker may end without a finished task: Spark's `spark.task.maxFailures`."""

TASKS_PER_WORKER = 2
"""A worker finds its next task without waiting for this process."""

POLL_S = 1.0
PROGRESS_S = 10.0
"""A batch that takes long says so this often."""
STUCK_AFTER = 6
"""How often it says so without a finished range, until that is a warning."""

END_S = 5.0
"""A worker that has not ended with the pipe after this time is killed."""

log = logging.getLogger(__name__)


class StoppedInBatchError(Exception):
    """A batch took longer than an orderly stop waits: the next start writes it again."""


class WorkerPool:
    """Starts workers when there are tasks, no more than `workers`, and ends them at the end of `with`."""

    def __init__(
        self,
        settings: TaskSettings,
        workers: int,
        stop: threading.Event,
        worker_lost: Callable[[], None] = no_failure,
    ) -> None:
        self._settings = settings
        self._workers = workers
        self._stop = stop
        self._worker_lost = worker_lost
        self._stop_before_s: float | None = None
        # A worker of the fork server shares the memory of what it has imported.
        methods = multiprocessing.get_all_start_methods()
        self._context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        self._context.set_forkserver_preload([run_task.__module__])
        self._pool: ProcessPoolExecutor | None = None
        self._parent: Connection | None = None
        """Its end is the end of all workers."""

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def run(self, tasks: list[ExportTask]) -> list[TaskReport]:
        """Returns the reports in any order; raises what a task raised, when no task runs any more."""
        batch = _Batch(tasks)
        with ExitStack() as failed:
            failed.callback(self._end)
            while not batch.is_done:
                try:
                    self._advance(batch)
                except BrokenProcessPool as error:
                    self._end()
                    self._worker_lost()
                    batch.repeat(error)
            failed.pop_all()
        return batch.reports

    def _advance(self, batch: _Batch) -> None:
        """Starts what can start and waits for something to end."""
        while batch.waiting and len(batch.running) < TASKS_PER_WORKER * self._workers:
            batch.start(self._started_pool(), self._settings)
        batch.collect(wait(batch.running, POLL_S, FIRST_COMPLETED).done)
        if self._stop.is_set() and not batch.is_done:
            now_s = time.monotonic()
            self._stop_before_s = self._stop_before_s or now_s + IDLE_WAIT_S
            if now_s > self._stop_before_s:
                raise StoppedInBatchError(
                    f"stopped in a batch that had not ended {IDLE_WAIT_S:g} s later: the next start writes it"
                    " again"
                )

    def _started_pool(self) -> ProcessPoolExecutor:
        if self._pool is None:
            ended, self._parent = self._context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(self._workers, self._context, _begin, (ended,))
        return self._pool

    def _end(self) -> None:
        """Ends the workers, whatever they do."""
        if self._pool is not None and self._parent is not None:
            self._parent.close()
            processes = tuple((self._pool._processes or {}).values())
            late = threading.Timer(END_S, _kill, (processes,))
            late.start()
            self._pool.shutdown(cancel_futures=True)
            late.cancel()
        self._pool = self._parent = None


class _Batch:
    """The tasks of a batch: waiting, running, and done."""

    def __init__(self, tasks: list[ExportTask]) -> None:
        self.waiting = deque(tasks)
        self.running: dict[Future[TaskReport], ExportTask] = {}
        self.reports: list[TaskReport] = []
        self._count = len(tasks)
        self._lost = 0
        self._said_s = time.monotonic()
        self._said_without_end = 0

    @property
    def is_done(self) -> bool:
        return len(self.reports) == self._count

    def start(self, pool: ProcessPoolExecutor, settings: TaskSettings) -> None:
        """Starts the next one, which waits on if the workers have ended."""
        self.running[pool.submit(run_task, settings, self.waiting[0])] = self.waiting[0]
        self.waiting.popleft()

    def collect(self, done: set[Future[TaskReport]]) -> None:
        """Takes what has ended; raises what it raised."""
        for future in done:
            self.reports.append(future.result())
            del self.running[future]
            self._lost = self._said_without_end = 0
        if time.monotonic() > self._said_s + PROGRESS_S:
            self._said_s = time.monotonic()
            log.info("%d of %d ranges of this batch are written", len(self.reports), self._count)
            self._said_without_end += 1
            if self._said_without_end == STUCK_AFTER:
                log.warning(
                    "no range was finished for %g s: a worker may be stuck, or the log or the disk is slow; a"
                    " worker that is killed is replaced",
                    STUCK_AFTER * PROGRESS_S,
                )

    def repeat(self, error: BrokenProcessPool) -> None:
        """Lets everything wait again that has not ended; ChildProcessError if that happens repeatedly."""
        self._lost += 1
        if self._lost == ATTEMPTS:
            raise ChildProcessError(
                f"a worker process ended {ATTEMPTS} times without having finished a range, for example killed"
                " for lack of memory. Start again, with fewer --workers if memory is short: everything"
                " committed is complete"
            ) from error
        log.warning("a worker process has ended unexpectedly: what it did is done again")
        ended = {future for future in self.running if future.exception() is None}
        self.collect(ended)
        self.waiting.extendleft(reversed(self.running.values()))
        self.running.clear()


def _kill(processes: Iterable[BaseProcess]) -> None:
    """Ends workers that are stopped, or stuck in a call of the system."""
    for process in processes:
        process.kill()


def _begin(parent: Connection) -> None:
    """Begins a worker. Ctrl-C in a terminal reaches it, too: the parent decides what follows."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Connection) -> None:
    """Ends this process with its parent, in the middle of a task if there is one."""
    parent.poll(None)
    os._exit(1)
