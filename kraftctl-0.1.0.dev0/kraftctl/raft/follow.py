"""The handling of a Fetch response by a follower: append, truncate, learn what is committed (KIP-595)."""

from __future__ import annotations

from typing import Final

from kraftctl.raft.append import request_flush
from kraftctl.raft.control_records import ControlChanges, control_changes
from kraftctl.raft.core import RaftCore
from kraftctl.raft.download_snapshot import begin_download
from kraftctl.raft.effects import ERROR, INFO, AppendBatch, TruncateLog
from kraftctl.raft.fetching import contradict, leader_answered
from kraftctl.raft.states import Follower
from kraftctl_protocol.control_record import NewerReleaseError
from kraftctl_protocol.generated.fetch_response import PartitionData
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import RecordBatch, read_batches

ANSWERS: Final = "answers of the leader"
"""The kind of lines that a leader can cause at any rate."""


def follow(core: RaftCore, state: Follower, partition: PartitionData) -> None:
    """Applies a response of the leader. After an unusable one the next Fetch waits for a backoff."""
    diverging = partition.diverging_epoch
    snapshot_id = partition.snapshot_id
    was_early = core.now_ms - state.last_response_ms < core.config.fetch_wait_ms_max // 2
    end_offset, high_watermark = core.log.end_offset, core.high_watermark
    if diverging.epoch >= 0:
        usable = _truncate(core, OffsetAndEpoch(diverging.end_offset, diverging.epoch))
    elif snapshot_id.epoch >= 0 or snapshot_id.end_offset >= 0:
        usable = begin_download(core, state, OffsetAndEpoch(snapshot_id.end_offset, snapshot_id.epoch))
    else:
        usable = _append(core, state, partition.records or b"")
        core.raise_high_watermark(min(partition.high_watermark, core.log.end_offset))
        state.leader_high_watermark = max(state.leader_high_watermark, partition.high_watermark)
    leader_answered(core, state, usable=usable)
    if core.log.end_offset < end_offset and state.has_appended:
        _doubt(core, state, end_offset)
    elif core.log.end_offset > end_offset:
        state.has_appended = True
    has_news = core.log.end_offset != end_offset or core.high_watermark > high_watermark
    state.response_was_early(core.now_ms, was_early=was_early and not has_news)


def _doubt(core: RaftCore, state: Follower, end_offset: int) -> None:
    """Pauses after the leader has taken back what it sent in this epoch, which no leader does."""
    core.limited_notice(
        ANSWERS,
        ERROR,
        f"The leader {state.leader_id} of epoch {state.epoch} takes back its records from"
        f" {core.log.end_offset} up to {end_offset}. Next step: look into the leader's log",
    )
    state.pause_fetching(core.now_ms + core.config.fetch_timeout_ms // 2)


def _truncate(core: RaftCore, diverging: OffsetAndEpoch) -> bool:
    """Truncates to where both logs agree: never below what is committed, always between two batches.

    Batches of one epoch are the same in both logs: where the leader's part of it ends, there ours has a
    boundary, too. Of another epoch only our own boundary is one; the next response then names an earlier
    epoch.
    """
    if diverging.offset < 0:
        text = f"The leader has epoch {diverging.epoch} end at {diverging.offset}, which is no offset"
        core.limited_notice(ANSWERS, ERROR, text)
        return False
    own = core.log.end_offset_for_epoch(diverging.epoch)
    end_offset = min(diverging.offset, own.offset) if own.epoch == diverging.epoch else own.offset
    if end_offset < core.committed_floor():
        contradict(core, f"wants the log to end at offset {end_offset} in epoch {diverging.epoch}")
        return False
    if end_offset >= core.log.end_offset:
        core.limited_notice(
            ANSWERS,
            ERROR,
            f"The leader has epoch {diverging.epoch} end at {diverging.offset}, as it does here",
        )
        return False
    core.log.truncate_to(end_offset)
    core.history.truncate_to(end_offset)
    core.emit(TruncateLog(end_offset))
    core.limited_notice(
        ANSWERS, INFO, f"Truncated the log to {end_offset}: epoch {diverging.epoch} ended there"
    )
    return True


def _append(core: RaftCore, state: Follower, records: bytes) -> bool:
    """Appends the batches that continue the log; the others are fetched again."""
    try:
        batches = read_batches(records)
    except DecodeError as error:
        text = f"Records from {state.leader_id} at {core.log.end_offset} are unusable: {error}"
        core.limited_notice(ANSWERS, ERROR, text)
        return False
    position = 0
    usable = True
    for batch in batches:
        size_bytes = batch.header.size_bytes
        if not _append_batch(core, state, batch, records[position : position + size_bytes]):
            usable = False
            break
        position += size_bytes
    request_flush(core)
    return usable


def _append_batch(core: RaftCore, state: Follower, batch: RecordBatch, data: bytes) -> bool:
    header = batch.header
    epoch = header.partition_leader_epoch
    last_epoch = core.log.epochs.last_epoch()
    is_in_order = header.base_offset == core.log.end_offset and epoch <= state.epoch
    if not is_in_order or epoch < (0 if last_epoch is None else last_epoch):
        core.limited_notice(
            ANSWERS,
            ERROR,
            f"Batch {header.base_offset}-{header.last_offset} of epoch {epoch} from {state.leader_id}"
            f" does not continue the log at {core.log.end_offset} of epoch {core.log.last_epoch()}",
        )
        return False
    changes = ControlChanges()
    if header.is_control:
        try:
            changes = control_changes(batch, core.history.kraft_version())
        except NewerReleaseError as newer:
            core.limited_notice(
                ANSWERS,
                ERROR,
                f"A newer release has written the control records from {state.leader_id} at"
                f" {header.base_offset}: {newer}. Next step: start a controller of that release on this"
                " directory instead",
            )
            return False
        except DecodeError as error:
            core.limited_notice(
                ANSWERS,
                ERROR,
                f"Control records from {state.leader_id} at {header.base_offset} are unusable: {error}",
            )
            return False
    if last_epoch is None or epoch > last_epoch:
        core.log.epochs.assign(epoch, header.base_offset)
    core.log.append(header.last_offset - header.base_offset + 1)
    core.emit(AppendBatch(header.base_offset, header.last_offset, epoch, data, header.is_control))
    # KIP-853: voters count from the moment they are in the log.
    for offset, kraft_version in changes.kraft_versions:
        core.history.add_kraft_version(offset, kraft_version)
    for offset, voters in changes.voters:
        core.history.add_voters(offset, voters)
    return True
