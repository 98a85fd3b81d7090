"""Tables and history of a log that a test writes record by record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.typed_export import exporting

Steps = Sequence[tuple[int, Message | Sequence[Message]]]
"""Each record, or those of one batch, with their time in seconds."""


def made_tables(directory: Path, steps: Steps) -> Path:
    """Typed tables with secrets redacted. A record that is no list is a batch of its own."""
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    offset = 0
    for time_s, records in steps:
        batch = [records] if isinstance(records, Message) else records
        values = [encode_metadata_record(record, record.HIGHEST_VERSION) for record in batch]
        quorum.append(encode_batch(offset, 1, time_s * 1000, values))
        offset += len(values)
    try:
        with exporting(directory, controller.endpoint) as exporter:
            exporter.export_to(offset, 1)
    finally:
        controller.close()
    return directory


def until(time_s: int) -> tuple[int, Message]:
    """Nothing more happens before this time."""
    return time_s, NoOpRecord()
