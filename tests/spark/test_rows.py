"""Rows without Spark: one per offset, for any log."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl_protocol.control_record import encode_control_record
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage, Voter
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch, read_batches
from kraftctl_protocol.uuids import ONE_UUID, ZERO_UUID
from kraftctl_spark.rows import log_rows
from kraftctl_spark.rows.log_rows import rows_of_log, rows_of_snapshot
from tests.support.metadata_row import MetadataRow, row_list

CHECKPOINT = Path(__file__).parents[1] / "data" / "kafka-4.3.1" / "00000000000000001643-0000000001.checkpoint"


def _rows(data: bytes, first: int = 0, end: int = 2**62) -> list[MetadataRow]:
    return [row for rows in rows_of_log(read_batches(data), first, end) for row in row_list(rows)]


def _row_of(record: Message, version: int) -> MetadataRow:
    (row,) = _rows(encode_batch(7, 3, 1234, [encode_metadata_record(record, version)]))
    return row


def test_partition_change() -> None:
    record = PartitionChangeRecord(
        partition_id=4, topic_id=ONE_UUID, isr=[1, 2], leader=2, directories=[ONE_UUID, ZERO_UUID]
    )
    row = _row_of(record, 1)
    assert (row.offset, row.epoch, row.timestamp_ms, row.is_control) == (7, 3, 1234, False)
    assert (row.type, row.type_id, row.version) == ("PartitionChangeRecord", 5, 1)
    assert row.column == "partition_change_record"
    assert row.value == {
        "partition_id": 4,
        "topic_id": "AAAAAAAAAAAAAAAAAAAAAQ",
        "isr": [1, 2],
        "leader": 2,
        "replicas": None,
        "removing_replicas": None,
        "adding_replicas": None,
        "leader_recovery_state": -1,
        "directories": ["AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAA"],
    }, "what version 1 does not have is not there"


def test_nested_structs() -> None:
    endpoint = BrokerEndpoint(name="PLAINTEXT", host="h", port=65535, security_protocol=0)
    row = _row_of(RegisterBrokerRecord(broker_id=1, end_points=[endpoint]), 4)
    assert row.value is not None
    assert row.value["end_points"] == [
        {"name": "PLAINTEXT", "host": "h", "port": 65535, "security_protocol": 0}
    ]
    assert row.value["cordoned_log_dirs"] is None


def test_record_without_fields_is_only_a_type() -> None:
    row = _row_of(NoOpRecord(), 0)
    assert (row.type, row.column, row.value, row.payload) == ("NoOpRecord", None, None, b"\x01\x14\0\0")


def test_control_records_are_rows_too() -> None:
    message = LeaderChangeMessage(version=0, leader_id=3, voters=[Voter(voter_id=3)], granting_voters=[])
    data = encode_control_batch(0, 1, 5, [encode_control_record(message), (99, b"\0\0\0"), (5, b"\0")])
    known, unknown, damaged = _rows(data)
    assert (known.type, known.type_id, known.version, known.is_control) == ("LeaderChangeMessage", 2, 0, True)
    assert known.value == {
        "version": 0,
        "leader_id": 3,
        "voters": [{"voter_id": 3}],
        "granting_voters": [],
    }
    assert (unknown.offset, unknown.type, unknown.type_id, unknown.payload) == (1, "Unknown", 99, b"\0\0\0")
    assert (damaged.offset, damaged.type, damaged.type_id, damaged.payload) == (2, "Undecodable", 5, b"\0")


@pytest.mark.parametrize(
    ("value", "type_name", "type_id", "version"),
    [
        pytest.param(b"\x01\xc8\x01\x03abc", "Unknown", 200, 3, id="unknown-type"),
        pytest.param(b"\x01\x05\x09abc", "PartitionChangeRecord", 5, 9, id="unknown-version"),
        pytest.param(b"\x02\x05\x00", "Undecodable", None, None, id="frame-version"),
        pytest.param(b"\x01\x02\x00\xff", "Undecodable", 2, 0, id="damaged"),
        pytest.param(b"", "Undecodable", None, None, id="empty"),
    ],
)
def test_what_is_not_understood_keeps_its_bytes(
    value: bytes, type_name: str, type_id: int | None, version: int | None
) -> None:
    (row,) = _rows(encode_batch(3, 1, 0, [value]))
    assert (row.offset, row.type, row.type_id, row.version) == (3, type_name, type_id, version)
    assert (row.payload, row.column, row.value) == (value, None, None)


def test_only_offsets_of_the_range() -> None:
    value = encode_metadata_record(NoOpRecord(), 0)
    data = encode_batch(10, 1, 0, [value] * 5) + encode_batch(15, 2, 0, [value] * 5)
    assert [row.offset for row in _rows(data, 12, 17)] == [12, 13, 14, 15, 16]
    assert [row.epoch for row in _rows(data, 12, 17)] == [1, 1, 1, 2, 2]


def test_large_records_end_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_rows, "BYTES_PER_CHUNK", 100)
    batches = [one for place in range(5) for one in read_batches(encode_batch(place, 1, 0, [bytes(60)]))]
    assert [len(rows) for rows in rows_of_log(batches, 0, 9)] == [2, 2, 1]
    assert [len(rows) for rows in rows_of_snapshot(batches, 5)] == [2, 2, 1]


def test_a_snapshot_of_kafka() -> None:
    (chunk,) = rows_of_snapshot(read_batches(CHECKPOINT.read_bytes()), 1643)
    rows = row_list(chunk)
    assert all(row.offset is None and row.snapshot_end_offset == 1643 for row in rows)
    assert [row.snapshot_index for row in rows] == list(range(len(rows)))
    assert rows[0].type == "SnapshotHeaderRecord"
    assert rows[-1].type == "SnapshotFooterRecord"
    assert all(row.value is not None for row in rows)
