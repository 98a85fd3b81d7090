"""Shows errors of the source as one line: around them, Spark shows the traceback of one of its processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kraftctl_observer.log_reader import ObserverError

HIDE_TRACEBACK = "SPARK_HIDE_TRACEBACK"
"""Spark's option `spark.sql.execution.pyspark.udf.hideTraceback.enabled` arrives in a process under this
name."""


@contextmanager
def without_traceback() -> Iterator[None]:
    """Hides tracebacks around functions whose errors say what is wrong, and where.

    A process of Spark ends after an error, so the traceback of no other one is hidden.
    """
    try:
        yield
    except (ValueError, ObserverError, OSError):
        if _is_process_of_spark():
            os.environ[HIDE_TRACEBACK] = "1"
        raise


def _is_process_of_spark() -> bool:
    """Returns whether this is a planner or worker, and not the program of a user."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return spec is not None and spec.name.startswith("pyspark.")
