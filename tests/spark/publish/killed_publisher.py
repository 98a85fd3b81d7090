"""Publishes and compacts in a process that is killed with -9, after a step or after a time."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import Table

from kraftctl_spark.publish.publisher import Publisher
from kraftctl_spark.tables.output import Output
from tests.spark.publish.published_tables import target_in
from tests.spark.typed_export import KillAtStep


def watch_iceberg(step: KillAtStep) -> None:
    """Counts each file of its metadata, before and after the commit in the catalog, as a step."""
    new_output, commit = PyArrowFileIO.new_output, Table._do_commit

    def watched_output(self, location):  # type: ignore[no-untyped-def]
        step("metadata-file")
        return new_output(self, location)

    def watched_commit(self, updates, requirements):  # type: ignore[no-untyped-def]
        step("before-the-catalog")
        commit(self, updates, requirements)
        step("after-the-catalog")

    PyArrowFileIO.new_output = watched_output  # type: ignore[method-assign]
    Table._do_commit = watched_commit  # type: ignore[method-assign]


def publish_and_die(place: Path, kind: str, step: int, after_s: float | None = None) -> None:
    """The work of a child process, which ends by itself if it has fewer steps, or is faster."""
    hook = KillAtStep(step)
    watch_iceberg(hook)
    if after_s is not None:
        timer = threading.Timer(after_s, os.kill, (os.getpid(), signal.SIGKILL))
        timer.daemon = True
        timer.start()
    Publisher(Output(place / "tables", hook), target_in(place, kind, hook)).publish()
