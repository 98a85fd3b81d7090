"""The typed export without Spark: tasks run in this process, which a hook may kill after any step."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

from kraftctl_observer import attempts
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_protocol.uuids import ONE_UUID
from kraftctl_security.blocking_connection import Endpoint
from kraftctl_spark.log import log_range
from kraftctl_spark.log.client_config import ObserverConfig
from kraftctl_spark.log.log_location import DirectoryLocation, LogLocation, QuorumLocation
from kraftctl_spark.stores.durable import Hook, no_hook
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.export_tasks import ExportTask, TaskReport, TaskSettings, run_task
from kraftctl_spark.tables.exporter import Exporter
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import CLUSTER_ID

NO_OP = encode_metadata_record(NoOpRecord(), 0)
BEGIN = encode_metadata_record(BeginTransactionRecord(name="t"), 0)
END = encode_metadata_record(EndTransactionRecord(), 0)
ABORT = encode_metadata_record(AbortTransactionRecord(reason="r"), 0)


def mixed_value(offset: int) -> bytes:
    """A record whose type and content depend on its offset."""
    if offset % 3 == 0:
        record = PartitionChangeRecord(partition_id=offset, topic_id=ONE_UUID, isr=[1, 2], leader=offset % 5)
        return encode_metadata_record(record, 1)
    if offset % 3 == 1:
        return encode_metadata_record(TopicRecord(name=f"topic-{offset}", topic_id=ONE_UUID), 0)
    return NO_OP


def mixed_batches(start: int, end: int, size: int = 7, epoch: int = 1) -> list[bytes]:
    values = {offset: mixed_value(offset) for offset in range(start, end)}
    return batches_of(values, size, epoch)


def batches_of(values: dict[int, bytes], size: int = 7, epoch: int = 1) -> list[bytes]:
    """The values at consecutive offsets, `size` per batch."""
    offsets = sorted(values)
    groups = [offsets[first : first + size] for first in range(0, len(offsets), size)]
    return [
        encode_batch(group[0], epoch, 1000 + group[0], [values[offset] for offset in group])
        for group in groups
    ]


@contextmanager
def exporting(
    directory: Path,
    where: Endpoint | LogLocation,
    hook: Hook = no_hook,
    include_secrets: bool = False,
    cluster_id: str = CLUSTER_ID,
) -> Iterator[Exporter]:
    """An exporter that runs its tasks in reverse order, in this process."""
    soon = ObserverConfig(request_timeout_ms=5000)
    location = QuorumLocation((where,), soon) if isinstance(where, tuple) else where
    settings = TaskSettings(directory, location, cluster_id, include_secrets, hook)

    def run_tasks(tasks: list[ExportTask]) -> list[TaskReport]:
        return [run_task(settings, task) for task in reversed(tasks)]

    output = Output(directory, hook)
    asking = location.open(cluster_id)
    try:
        with output.locked():
            yield Exporter(output, settings, asking, run_tasks)
    finally:
        asking.close()


def export_directory(source: Path, tables: Path) -> None:
    """Exports what is in a controller's directory and is not in the tables yet."""
    location = DirectoryLocation(source, assume_committed=True)
    reader = location.open(None)
    with exporting(tables, location, cluster_id=reader.cluster_id()) as exporter:
        position = reader.position(0, 0)
        exporter.export_to(position.high_watermark, position.leader_epoch)


class KillAtStep:
    """kill -9 of this process right after the n-th step."""

    def __init__(self, number: int) -> None:
        self._left = number

    def __call__(self, step: str) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def export_and_die(directory: Path, endpoint: Endpoint, ends: list[int], per_task: int, step: int) -> None:
    """The work of a child process: exports up to each of `ends`, and dies after that many steps."""
    log_range.OFFSETS_PER_RANGE = per_task
    attempts.PAUSE_S = 0.001
    with exporting(directory, endpoint, KillAtStep(step)) as exporter:
        for end in ends:
            exporter.export_to(end, 1)


def compact_and_die(directory: Path, step: int) -> None:
    """The same for a compaction without a grace period."""
    output = Output(directory, KillAtStep(step))
    with output.compacting(wait=True):
        compact(output, grace_ms=0)


OF_WRITERS = {"_commits", "_states", "_checkpoint", "_lock", "_compaction_lock"}
"""What is beside the tables."""


def content(directory: Path) -> dict[str, str]:
    """Every file that a reader of the directory could find, with a digest of its content."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not OF_WRITERS & set(path.relative_to(directory).parts)
    }


def offsets_in_directory(directory: Path, table: str, files: str = "*.parquet") -> list[int]:
    """As a reader without manifests sees them."""
    found: list[int] = []
    for path in sorted((directory / table).glob(files)):
        found += pq.ParquetFile(path).read(columns=["offset"]).column("offset").to_pylist()
    return sorted(found)
