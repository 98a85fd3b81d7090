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

Steps = Sequence[tuple[int, Message]]
"""Each record with its time in seconds."""


def made_tables(directory: Path, steps: Steps) -> Path:
    """Typed tables with secrets redacted. Every record is a batch of its own, at its place as offset."""
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    for offset, (time_s, record) in enumerate(steps):
        value = encode_metadata_record(record, record.HIGHEST_VERSION)
        quorum.append(encode_batch(offset, 1, time_s * 1000, [value]))
    try:
        with exporting(directory, controller.endpoint) as exporter:
            exporter.export_to(len(steps), 1)
    finally:
        controller.close()
    return directory


def until(time_s: int) -> tuple[int, Message]:
    """Nothing more happens before this time."""
    return time_s, NoOpRecord()
