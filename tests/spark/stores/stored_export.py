"""The typed export to an object store without Spark, in this process or in one that is killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from kraftctl_observer import attempts
from kraftctl_security.blocking_connection import Endpoint
from kraftctl_spark.log import log_range
from kraftctl_spark.log.client_config import ObserverConfig
from kraftctl_spark.log.log_location import QuorumLocation
from kraftctl_spark.stores.durable import Hook, no_hook
from kraftctl_spark.stores.open_store import StoreLocation
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.export_tasks import ExportTask, TaskReport, TaskSettings, run_task
from kraftctl_spark.tables.exporter import Exporter
from kraftctl_spark.tables.reader import table_of
from kraftctl_spark.tables.stored_output import StoredOutput
from tests.spark.fake_controller import CLUSTER_ID
from tests.spark.typed_export import KillAtStep, mixed_value
from tests.support.processes.spark_export import spark_environment

PER_TASK = 25


def run_export(arguments: list[str]) -> str:
    """Runs `kraftctl-export` with workers that have this environment; returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "kraftctl_spark.cli", *arguments],
        env=spark_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


TABLES = ("records", "partition_change_record", "topic_record")


@contextmanager
def stored_output(url: str, hook: Hook = no_hook) -> Iterator[StoredOutput]:
    with TemporaryDirectory() as scratch:
        yield StoredOutput(StoreLocation(url).open_objects(), Path(scratch), hook)


@contextmanager
def storing(url: str, endpoint: Endpoint, hook: Hook = no_hook) -> Iterator[Exporter]:
    """An exporter that runs its tasks in reverse order, in this process."""
    location = QuorumLocation((endpoint,), ObserverConfig(request_timeout_ms=5000))
    asking = location.open(CLUSTER_ID)
    try:
        with stored_output(url, hook) as output, output.locked():
            settings = TaskSettings(
                output.directory, location, CLUSTER_ID, hook=hook, store=StoreLocation(url)
            )

            def run_tasks(tasks: list[ExportTask]) -> list[TaskReport]:
                return [run_task(settings, task) for task in reversed(tasks)]

            yield Exporter(output, settings, asking, run_tasks)
    finally:
        asking.close()


def store_and_die(url: str, endpoint: Endpoint, ends: list[int], step: int) -> None:
    """The work of a child process: exports up to each of `ends`, and dies after that many steps."""
    log_range.OFFSETS_PER_RANGE = PER_TASK
    attempts.PAUSE_S = 0.001
    with storing(url, endpoint, KillAtStep(step)) as exporter:
        for end in ends:
            exporter.export_to(end, 1)


def compact_and_die(url: str, step: int) -> None:
    with stored_output(url, KillAtStep(step)) as output, output.compacting(wait=True):
        compact(output, grace_ms=0)


def expected_offsets(table: str, end: int) -> list[int]:
    """Offsets in a log of `mixed_value`."""
    remainder = {"partition_change_record": 0, "topic_record": 1}.get(table)
    return [offset for offset in range(end) if remainder is None or offset % 3 == remainder]


def assert_exact(url: str, end: int) -> None:
    """Every offset below `end` exactly once."""
    with stored_output(url) as output:
        output.check_files()
        for table in TABLES:
            rows = table_of(output, table)
            assert rows.column("offset").to_pylist() == expected_offsets(table, end)
        payloads = table_of(output, "records").column("payload").to_pylist()
        assert payloads == [mixed_value(offset) for offset in range(end)]
