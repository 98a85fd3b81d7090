"""KIP-595: how records enter a leader's log, become durable, and become committed."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO, AppendBatch, FlushLog
from kraftctl.raft.progress import progressed
from kraftctl.raft.respond_fetch import wake_voter_fetches
from kraftctl.raft.states import Leader
from kraftctl.raft.voter_history import BOOTSTRAP_VOTERS_OFFSET, STATIC_VOTERS_OFFSET
from kraftctl_protocol.control_record import ControlRecordType, encode_control_value
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage, Voter
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch


def append_records(core: RaftCore, leader: Leader, values: list[bytes]) -> int:
    """Append metadata records as one batch of the leader's epoch; returns its base offset."""
    assert values, "an empty batch has no offset"
    base_offset = core.log.append(len(values))
    batch = encode_batch(base_offset, leader.epoch, core.wall_ms, values)
    _append_batch(core, leader, base_offset, batch, is_control=False)
    return base_offset


def append_start_of_epoch(core: RaftCore, leader: Leader) -> None:
    """Append LeaderChange, without which nothing can be committed, and the voters if the log lacks them."""
    records = [(int(ControlRecordType.LEADER_CHANGE), encode_control_value(_leader_change(leader)))]
    kraft_version = core.history.kraft_version()
    if kraft_version >= 1 and _must_write_voters(core):
        voters = core.voters.updated_voter(core.local_node())
        assert voters is not None, "a leader votes in its own voter set"
        base_offset = core.log.end_offset
        version = KRaftVersionRecord(version=0, kraft_version=kraft_version)
        records.append((int(ControlRecordType.KRAFT_VERSION), encode_control_value(version)))
        records.append((int(ControlRecordType.KRAFT_VOTERS), encode_control_value(voters.to_record())))
        core.history.add_kraft_version(base_offset + 1, kraft_version)
        core.history.add_voters(base_offset + 2, voters)
        leader.set_voters(voters)
        core.notice(INFO, f"Writing the voters {voters!r} at offset {base_offset + 2}")
    append_control_records(core, leader, records)


def append_control_records(core: RaftCore, leader: Leader, records: list[tuple[int, bytes]]) -> int:
    """Append (control record type, encoded value) records as one batch; returns its base offset."""
    base_offset = core.log.append(len(records))
    batch = encode_control_batch(base_offset, leader.epoch, core.wall_ms, records)
    _append_batch(core, leader, base_offset, batch, is_control=True)
    return base_offset


def request_flush(core: RaftCore) -> None:
    if core.log.wants_flush():
        core.log.begin_flush()
        core.emit(FlushLog(core.log.end_offset))


def log_flushed(core: RaftCore, end_offset: int) -> None:
    """Handles that the log is on disk up to `end_offset`. On a leader this may complete a majority."""
    core.log.flushed(end_offset)
    request_flush(core)
    leader = core.leader()
    if leader is not None:
        leader.update_local_end_offset(core.log.flushed_offset)
        advance_high_watermark(core, leader)


def advance_high_watermark(core: RaftCore, leader: Leader) -> None:
    """Announces new commits to the local state machine, then to voters; to observers at the end of the
    step.
    """
    if leader.advance_high_watermark():
        core.raise_high_watermark(leader.high_watermark)
        progressed(core)
        wake_voter_fetches(core, leader)
        leader.wake_observers_at(core.now_ms)


def _append_batch(
    core: RaftCore, leader: Leader, base_offset: int, batch: bytes, *, is_control: bool
) -> None:
    """Appends the last batch of the log, whose end is the end of the log."""
    core.emit(AppendBatch(base_offset, core.log.end_offset - 1, leader.epoch, batch, is_control))
    core.commit_latency.appended(core.log.end_offset, core.now_ms)
    wake_voter_fetches(core, leader)
    request_flush(core)


def _must_write_voters(core: RaftCore) -> bool:
    """Returns whether the voters are only in the 0-0 checkpoint, which is never sent, or this replica
    has changed.
    """
    offset = core.history.last_offset()
    assert offset != STATIC_VOTERS_OFFSET, "kraft.version 1 without voters in the log or a snapshot"
    return offset == BOOTSTRAP_VOTERS_OFFSET or core.voters.needs_update(core.local_node())


def _leader_change(leader: Leader) -> LeaderChangeMessage:
    return LeaderChangeMessage(
        version=0,
        leader_id=leader.leader_id,
        voters=[Voter(voter_id=voter_id) for voter_id in sorted(leader.voter_states)],
        granting_voters=[Voter(voter_id=voter_id) for voter_id in leader.granting_voter_ids],
    )
