"""A log that grows while it is exported, with records that no release, or only a later one, understands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.fence_broker_record import FenceBrokerRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.tables.manifest import Manifest
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import EPOCH, Generator
from tests.spark.typed_export import exporting

EARLIER_RELEASE = f"""
from kraftctl_protocol.generated import index
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.record_types import RECORD_TYPES, RECORD_TYPES_BY_NAME

del index._RECORDS[{UnregisterControllerRecord.API_KEY}]
RECORD_TYPES.remove(RECORD_TYPES_BY_NAME.pop("{UnregisterControllerRecord.NAME}"))
PartitionRecord.HIGHEST_VERSION = {PartitionRecord.HIGHEST_VERSION - 1}
"""
"""Python executes it when it starts, as `sitecustomize`: a release before a type, and before a version."""


def earlier_release(directory: Path) -> Path:
    """Returns what comes first in the PYTHONPATH of that release's processes."""
    directory.mkdir()
    (directory / "sitecustomize.py").write_text(EARLIER_RELEASE)
    return directory


def _with_new_field() -> bytes:
    topic = TopicRecord("with a new field", bytes(15) + b"\x07")
    topic.unknown_tagged_fields = [(99, b"new")]
    return encode_metadata_record(topic, 0)


NOT_UNDERSTOOD = (
    bytes([1, ProducerIdsRecord.API_KEY, 99, 0]),
    _with_new_field(),
    encode_metadata_record(FenceBrokerRecord(id=999, epoch=1), 0),
    bytes([1, ConfigRecord.API_KEY, 0, 255, 255]),
)
"""A later version, a new field, a broker that was never set, and a damaged record."""

RAW_EVERY = 12
"""In batches."""


class GrowingLog:
    """Appends to a quorum what a controller could have written, and now and then one of these records."""

    def __init__(self, seed: int, quorum: FakeQuorum) -> None:
        self._generator = Generator(seed)
        self._quorum = quorum
        self._raw = 0

    @property
    def end(self) -> int:
        return self._generator.history.end

    def grow(self, records: int) -> None:
        """It does not end within a transaction."""
        goal = self.end + records
        batches = self._generator.history.batches
        given = len(batches) if self._quorum.end_offset else 0
        while self.end < goal or self._generator.in_transaction:
            self._generator.append_random()
            if len(batches) % RAW_EVERY == 0:
                self.append_raw(NOT_UNDERSTOOD[self._raw % len(NOT_UNDERSTOOD)])
                self._raw += 1
        self._quorum.append(*batches[given:])

    def append_raw(self, value: bytes) -> None:
        history = self._generator.history
        history.batches.append(encode_batch(self.end, EPOCH, history.times[self.end - 1], [value]))
        history.times[self.end] = history.times[self.end - 1]
        history.end += 1

    def delete_all(self) -> None:
        """Deletes everything up to now, which a snapshot has."""
        self._generator.append_snapshot()
        _delete(self._quorum, self.end, self._generator.history.snapshots[self.end], [])

    def exported_without_a_kill(self, directory: Path, batches: Sequence[Manifest]) -> None:
        """Exports the same by a release that understands more; where these have a snapshot, with that one."""
        history = self._generator.history
        quorum = FakeQuorum()
        controller = FakeController(quorum, 1)
        quorum.append(*history.batches)
        try:
            with exporting(directory / "raw", controller.endpoint) as exporter:
                for batch in batches:
                    if batch.snapshot:
                        if batch.start:
                            exporter.export_to(batch.start, EPOCH)
                        rest = history.batches_from(batch.end)
                        _delete(quorum, batch.end, history.snapshots[batch.end], rest)
                exporter.export_to(self.end, EPOCH)
        finally:
            controller.close()
        HistoryTables(directory / "raw", directory / "history").catch_up()


def _delete(quorum: FakeQuorum, end: int, snapshot: bytes, rest: list[bytes]) -> None:
    quorum.batches = rest
    quorum.log_start_offset = end
    quorum.snapshot, quorum.snapshot_bytes = (end, EPOCH), snapshot
