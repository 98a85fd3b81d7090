"""Control records, against the log and snapshots that Kafka wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl_protocol.control_record import (
    ControlRecordType,
    UnknownControlRecordError,
    decode_control_key,
    decode_control_record,
    encode_control_key,
    encode_control_record,
    encode_control_value,
)
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage, Voter
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.primitives import DecodeError, EncodeError
from kraftctl_protocol.record_batch import Record, read_batches
from kraftctl_protocol.uuids import uuid_from_string

RECORDINGS = Path(__file__).parents[1] / "data" / "kafka-4.3.1"
CHECKPOINTS = sorted(RECORDINGS.rglob("*.checkpoint"))


def _control_records(path: Path) -> list[Record]:
    batches = read_batches(path.read_bytes())
    return [record for batch in batches if batch.header.is_control for record in batch.records]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in CHECKPOINTS])
def test_java_control_records_are_written_again_byte_for_byte(path: Path) -> None:
    records = _control_records(path)
    decoded = [decode_control_record(record.key, record.value) for record in records]
    assert decoded[0].control_type is ControlRecordType.SNAPSHOT_HEADER
    assert decoded[-1].control_type is ControlRecordType.SNAPSHOT_FOOTER
    for record, control in zip(records, decoded, strict=True):
        assert encode_control_record(control.message) == (int(control.control_type), record.value)
        assert encode_control_key(control.control_type) == record.key


def test_voters_of_a_formatted_directory() -> None:
    (path,) = RECORDINGS.glob("formatted/*/*.checkpoint")
    messages = [decode_control_record(record.key, record.value) for record in _control_records(path)]
    assert [control.control_type.name for control in messages] == [
        "SNAPSHOT_HEADER",
        "KRAFT_VERSION",
        "KRAFT_VOTERS",
        "SNAPSHOT_FOOTER",
    ]
    (voter,) = messages[2].message.voters
    assert voter.voter_id == 3000
    assert voter.voter_directory_id == uuid_from_string("bGzDaR4ySNmJaPXzonU2CA")
    assert [endpoint.name for endpoint in voter.endpoints] == ["CONTROLLER"]


def test_leader_change_of_both_versions() -> None:
    voter = Voter(voter_id=3)
    old = LeaderChangeMessage(version=0, leader_id=3, voters=[voter], granting_voters=[voter])
    assert encode_control_value(old) == bytes.fromhex(
        "0000 00000003 02 00000003 00 02 00000003 00 00".replace(" ", "")
    )
    with_directory = Voter(voter_id=3, voter_directory_id=bytes(15) + b"\x09")
    new = LeaderChangeMessage(version=1, leader_id=3, voters=[with_directory], granting_voters=[])
    control_type, value = encode_control_record(new)
    assert decode_control_record(encode_control_key(control_type), value).message == new


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(None, id="none"),
        pytest.param(b"", id="empty"),
        pytest.param(b"\0\0\2", id="short"),
        pytest.param(b"\xff\xff\0\2", id="negative-version"),
    ],
)
def test_damaged_keys(key: bytes | None) -> None:
    with pytest.raises(DecodeError):
        decode_control_key(key)


def test_key_of_a_later_version_is_read_as_far_as_known() -> None:
    assert decode_control_key(b"\0\1\0\5more") == 5


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="none"),
        pytest.param(b"\0", id="short"),
        pytest.param(b"\0\7\0\1\0", id="later-version"),
        pytest.param(b"\xff\xff\0\1\0", id="negative-version"),
        pytest.param(b"\0\0\0\1\0\0", id="trailing-byte"),
    ],
)
def test_damaged_values(value: bytes | None) -> None:
    with pytest.raises(DecodeError):
        decode_control_record(encode_control_key(5), value)


def test_unknown_type() -> None:
    with pytest.raises(UnknownControlRecordError) as raised:
        decode_control_record(b"\0\0\0\x63", b"\0\0\0")
    assert raised.value.control_type == 99


def test_only_control_records_are_written() -> None:
    with pytest.raises(EncodeError):
        encode_control_record(NoOpRecord())
    assert encode_control_record(KRaftVersionRecord(version=0, kraft_version=1)) == (5, b"\0\0\0\1\0")
