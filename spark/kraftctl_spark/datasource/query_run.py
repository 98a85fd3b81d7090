"""Waits for a streaming query: until it ends, fails, or is asked to stop by a signal."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any

from pyspark.errors import StreamingQueryException

from kraftctl_spark.datasource.failure_cause import cause_of

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

POLL_S = 1
IDLE_WAIT_S = 60.0
"""How long an orderly stop waits for the batch that is being written."""

LineOfProgress = Callable[[Mapping[str, Any]], str | None]

log = logging.getLogger(__name__)


def stop_on_signals() -> threading.Event:
    """Set by SIGTERM and SIGINT, which then ask for an orderly end."""
    stop = threading.Event()

    def on_signal(signum: int, frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    return stop


def run_until(query: StreamingQuery, stop: threading.Event, line_of: LineOfProgress | None = None) -> bool:
    """Waits for the end of the query or for `stop`; False when the query failed.

    `line_of` makes a line to log of Spark's progress, or None; a batch may come too fast to be told of.
    """
    told: str | None = None
    while not stop.is_set() and not _ends_within(query, POLL_S):
        told = _tell_progress(query, line_of, told)
    if query.isActive:
        log.info("stopping after the batch that is being written")
        _await_idle(query)
        query.stop()
    failure = query.exception()
    if failure is not None:
        log.error("the query failed: %s", failure)
        log.error("the export ends because of %s", cause_of(str(failure)))
        return False
    _tell_progress(query, line_of, told)
    progress = query.lastProgress
    log.info("stopped; last batch: %s", "none" if progress is None else progress["batchId"])
    return True


def _ends_within(query: StreamingQuery, wait_s: int) -> bool:
    """Returns as soon as it has ended, and does not say how."""
    try:
        return bool(query.awaitTermination(wait_s))
    except StreamingQueryException:
        return True


def _tell_progress(query: StreamingQuery, line_of: LineOfProgress | None, told: str | None) -> str | None:
    """What was told last."""
    progress = query.lastProgress
    line = None if progress is None or line_of is None else line_of(progress)
    if line is not None and line != told:
        log.info("%s", line)
    return line or told


def _await_idle(query: StreamingQuery) -> None:
    pause = threading.Event()
    waited_s = 0.0
    while query.isActive and query.status["isTriggerActive"] and waited_s < IDLE_WAIT_S:
        pause.wait(0.1)
        waited_s += 0.1
