"""A log is replayed from its batches: what is committed, at which offset and when, and what is left out."""

from __future__ import annotations

from kraftctl.explain.as_of import as_of_json, as_of_text
from kraftctl.explain.mark import Mark
from kraftctl.explain.replayed_log import ReplayedLog
from kraftctl_protocol.control_record import encode_control_record
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage
from kraftctl_protocol.generated.leader_change_message import Voter as ElectedVoter
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.voters_record import Voter, VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import RecordBatch, encode_batch, encode_control_batch, read_batches

UNKNOWN_RECORD = b"\x01\xf0\x07\x00"
"""Frame version 1, type 1008, version 0."""


def topic(name: str) -> TopicRecord:
    return TopicRecord(name=name, topic_id=name.encode().ljust(16, b"."))


def batch(base_offset: int, timestamp_ms: int, *records: Message | bytes) -> list[RecordBatch]:
    values = [each if isinstance(each, bytes) else encode_metadata_record(each, 0) for each in records]
    return read_batches(encode_batch(base_offset, 1, timestamp_ms, values))


def control(base_offset: int, timestamp_ms: int, *messages: Message, epoch: int = 1) -> list[RecordBatch]:
    records = [encode_control_record(message) for message in messages]
    return read_batches(encode_control_batch(base_offset, epoch, timestamp_ms, records))


def test_records_from_the_end_of_the_log_on_are_left_out() -> None:
    log = ReplayedLog()
    batches = batch(0, 5_000, topic("a"), topic("b"))
    log.replay_batches(batches, 1)
    assert (list(log.image.topics.ids_by_name), log.end_offset) == (["a"], 1)
    # The next read begins within the same batch.
    log.replay_batches(batches, 2)
    assert list(log.image.topics.ids_by_name) == ["a", "b"]
    assert log.marks.topics == {"a": Mark(0, 5_000), "b": Mark(1, 5_000)}


def test_a_transaction_has_its_effect_when_it_ends() -> None:
    log = ReplayedLog()
    log.replay_batches(batch(0, 1, BeginTransactionRecord(name="t"), topic("a")), 2)
    assert log.image.topics.ids_by_name == {}
    log.replay_batches(batch(2, 2, topic("b"), EndTransactionRecord()), 4)
    assert list(log.image.topics.ids_by_name) == ["a", "b"]
    assert log.marks.topics["a"] == Mark(1, 1)
    log.replay_batches(batch(4, 3, BeginTransactionRecord(name="t"), topic("c"), AbortTransactionRecord()), 7)
    assert list(log.image.topics.ids_by_name) == ["a", "b"]


def test_a_transaction_that_is_open_is_named() -> None:
    log = ReplayedLog()
    log.replay_batches(batch(0, 1_000, topic("a")), 1)
    log.replay_batches(batch(1, 2_000, BeginTransactionRecord(name="t"), topic("b")), 3)
    assert as_of_text(log).endswith(
        "; the transaction that begins at offset 1 has not ended: nothing of it counts"
    )
    assert as_of_json(log)["open_transaction"] == 1
    log.replay_batches(batch(3, 3_000, EndTransactionRecord()), 4)
    assert "transaction" not in as_of_text(log)
    assert as_of_json(log)["open_transaction"] is None


def test_records_of_a_newer_release_are_counted() -> None:
    log = ReplayedLog()
    log.replay_batches(batch(0, 1, UNKNOWN_RECORD, topic("a")), 2)
    assert (dict(log.unknown_records), list(log.image.topics.ids_by_name)) == ({1008: 1}, ["a"])


def test_a_snapshot_says_only_how_old_its_states_are_at_least() -> None:
    log = ReplayedLog()
    voters = VotersRecord(voters=[Voter(voter_id=7, voter_directory_id=bytes(15) + b"\x07")])
    header = SnapshotHeaderRecord(last_contained_log_timestamp=5_000)
    front = control(0, 9, header, KRaftVersionRecord(kraft_version=1), voters)
    log.replay_snapshot([*front, *batch(3, 9, topic("a"))], OffsetAndEpoch(50, 3))
    assert log.marks.topics == {"a": Mark(49, 5_000, is_latest_possible=True)}
    assert (log.end_offset, log.kraft_version) == (50, 1)
    assert as_of_text(log).endswith("before offset 50; read from the snapshot 50-3")
    assert log.voters == {7: bytes(15) + b"\x07"}
    log.replay_batches(batch(50, 6_000, topic("b")), 51)
    assert log.marks.topics["b"] == Mark(50, 6_000)
    assert as_of_text(log) == (
        "As of 1970-01-01 00:00:06 UTC, the newest record, before offset 51; read from the snapshot 50-3 and"
        " the log behind it"
    )


def test_a_log_of_which_nothing_is_committed_has_no_time() -> None:
    assert as_of_text(ReplayedLog()) == ("As of the begin of the log: nothing in it is known to be committed")
    assert as_of_json(ReplayedLog()) == {"last_record_ms": None, "snapshot": None, "open_transaction": None}


def test_a_leader_leads_since_the_begin_of_its_epoch() -> None:
    """Controller 2 was restarted after epoch 5, and is elected again."""
    log = ReplayedLog()
    for base, (leader, epoch) in enumerate([(1, 4), (2, 5), (2, 6)]):
        message = LeaderChangeMessage(
            leader_id=leader, voters=[ElectedVoter(voter_id=1), ElectedVoter(voter_id=2)]
        )
        log.replay_batches(control(base, 1_000 * base, message, epoch=epoch), base + 1)
    assert (log.leader_id, log.leader_epoch, log.leader_mark) == (2, 6, Mark(2, 2_000))
    assert sorted(log.voters) == [1, 2]
