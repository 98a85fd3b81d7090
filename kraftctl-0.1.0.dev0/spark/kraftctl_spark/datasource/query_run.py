"""Waits for a streaming query: until it ends, fails, or a signal requests its stop."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, StreamingQueryException

from kraftctl_spark.datasource.failure_cause import cause_of
from kraftctl_spark.datasource.spark_session import build_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

POLL_S = 1

log = logging.getLogger(__name__)


def run_session(master: str | None, run: Callable[[SparkSession], bool]) -> int:
    """Returns the exit code of `run` in a session; Spark's exceptions are logged like the failure of a
    query.
    """
    try:
        spark = build_session(master)
        try:
            return 0 if run(spark) else 1
        finally:
            spark.stop()
    except (PySparkException, Py4JError) as error:
        _log_failure(error)
        return 1


def run_until(query: StreamingQuery, stop: threading.Event, idle_wait_s: float) -> bool:
    """Waits for the end of the query or for `stop`, then so long for its batch; False when the query
    failed.
    """
    while not stop.is_set() and not _ends_within(query, POLL_S):
        pass
    if query.isActive:
        log.info("stopping after the current batch")
        _await_idle(query, idle_wait_s)
        query.stop()
    failure = query.exception()
    if failure is not None:
        _log_failure(failure)
        return False
    progress = query.lastProgress
    log.info("stopped; last batch: %s", "none" if progress is None else progress["batchId"])
    return True


def _log_failure(failure: Exception) -> None:
    """Logs everything, and last what a user reads first: its cause in one line."""
    log.error("the query failed: %s", failure)
    log.error("the export ends because of %s", cause_of(str(failure)))


def _ends_within(query: StreamingQuery, wait_s: int) -> bool:
    """Returns True as soon as the query has ended, successfully or not."""
    try:
        return bool(query.awaitTermination(wait_s))
    except StreamingQueryException:
        return True


def _await_idle(query: StreamingQuery, wait_s: float) -> None:
    pause = threading.Event()
    waited_s = 0.0
    while query.isActive and query.status["isTriggerActive"] and waited_s < wait_s:
        pause.wait(0.1)
        waited_s += 0.1
