"""What a new process found on its disk, compared with what its former lives have promised."""

from __future__ import annotations

from kraftctl.raft.effects import NoteRecovered, StartOver, WriteQuorumState
from kraftctl.raft.election_state import ElectionState
from kraftctl.storage.errors import CorruptLogError
from kraftctl_protocol.log_file_names import checkpoint_file_name
from kraftctl_protocol.record_batch import read_batch_header
from tests.support.simulator.checks.checked_replica import CheckedReplica
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.checks.log_history import Batch, LogHistory, ReplicaLog
from tests.support.simulator.checks.process_view import LogView

READ_BYTES_MAX = 1 << 30


def check(history: LogHistory, replica: CheckedReplica, *, is_new: bool) -> None:
    """Then follow the log that was found: all of it is durable."""
    replica.name = f"node {replica.node_id}"
    found = _found_log(history, replica, is_new=is_new)
    recovering = replica.partition.recovering_epoch is not None
    if not recovering and isinstance(replica.storing, NoteRecovered):
        replica.forgot_log = False  # It had everything again, and ended while it wrote that.
    if not is_new and not replica.promised_nothing:
        _check_recovering(replica, recovering=recovering)
        _check_end(replica, found, recovering=recovering)
        _check_quorum_state(replica)
        _check_snapshots(replica)
    replica.is_recovering = recovering
    replica.promised_nothing = replica.deleted_votes = False
    replica.damaged_files.clear()
    if not recovering:
        replica.forgot_log = replica.forgot_votes = False
        replica.lost_log = None
    replica.stored = replica.partition.read_quorum_state()
    replica.log.replace(found)


def read_log(log: LogView) -> bytes:
    """All of it, with what is not flushed yet."""
    pieces: list[bytes] = []
    offset = log.start_offset
    while offset < log.end_offset:
        piece = log.read(offset, READ_BYTES_MAX)
        offset = _last_header_end(piece)
        pieces.append(piece)
    return b"".join(pieces)


def _last_header_end(data: bytes) -> int:
    position = end = 0
    while position < len(data):
        header = read_batch_header(data, position)
        position += header.size_bytes
        end = header.last_offset + 1
    return end


def _found_log(history: LogHistory, replica: CheckedReplica, *, is_new: bool) -> list[Batch]:
    """The batches on the disk, after those that a snapshot has replaced."""
    log = replica.partition.log
    count = history.count_before(log.start_offset)
    if count is None:
        broken(
            "SnapshotAtLogStart", f"{replica.name}: nothing committed ends at its start {log.start_offset}"
        )
    found = history.committed[:count]
    try:
        data = read_log(log)
    except CorruptLogError as error:
        broken("LogMatching", f"{replica.name} cannot read the log that it recovered: {error}")
    position = 0
    while position < len(data):
        header = read_batch_header(data, position)
        raw = data[position : position + header.size_bytes]
        position += header.size_bytes
        epoch = header.partition_leader_epoch
        previous = found[-1] if found else None
        batch = history.batches.get((header.base_offset, epoch))
        if batch is None and is_new:
            end = header.last_offset + 1
            batch = history.adopt(header.base_offset, end, epoch, raw, header.is_control, previous)
        if batch is None or batch.data != raw or batch.previous is not previous:
            broken(
                "LogMatching",
                f"{replica.name} recovered a batch at offset {header.base_offset} of epoch {epoch} that it"
                f" never had, after {previous}",
            )
        found.append(batch)
    return found


def _has_all(found: list[Batch], lost: ReplicaLog | None) -> bool:
    """An older copy may have everything that was durable."""
    count = None if lost is None else lost.count_before(lost.durable_end)
    if lost is None or not count:
        return True
    return len(found) >= count and found[count - 1] is lost.batches[count - 1]


def _check_recovering(replica: CheckedReplica, *, recovering: bool) -> None:
    """Damage may leave a log without a single batch: then the replica fetches all of it before it votes."""
    if recovering and replica.log_is_damaged:
        replica.forgot_log = True
        replica.lose_log()
    elif recovering and not replica.is_excused:
        broken("Durability", f"{replica.name} recovers, although its disk has lost nothing")


def _check_end(replica: CheckedReplica, found: list[Batch], *, recovering: bool) -> None:
    """What a crash may take is what was never flushed; damage may take nothing, unless the replica knows."""
    if replica.log_is_damaged and replica.promises_are_damaged:
        return  # nothing says how far the log went
    if replica.forgot_log:
        votes = not recovering and replica.is_voter
        if votes and not _has_all(found, replica.lost_log):
            broken("Durability", f"{replica.name} votes although its log was lost")
        return
    fetched = replica.fetched_snapshot
    if fetched is not None and replica.partition.log.start_offset == fetched.offset:
        return  # the process ended before its log was replaced; the start has done that
    storing = replica.storing
    if isinstance(storing, StartOver) and replica.is_damaged(checkpoint_file_name(storing.snapshot_id)):
        return  # the same, and the snapshot is damaged
    log = replica.log
    count = log.count_before(log.durable_end)
    assert count is not None
    if count and (len(found) < count or found[count - 1] is not log.batches[count - 1]):
        end = found[-1].end if found else 0
        kind = "damaged log" if replica.log_is_damaged else "log"
        broken(
            "AckedValueNotLost",
            f"{replica.name} recovered its {kind} up to {end}, without the durable {log.batches[count - 1]}",
        )


def _check_quorum_state(replica: CheckedReplica) -> None:
    if replica.forgot_votes:
        _check_old_votes(replica)
        return
    found = replica.partition.read_quorum_state()
    expected = [replica.stored]
    if isinstance(replica.storing, WriteQuorumState):
        expected.append(replica.storing.state)
    said = [_election(state) for state in expected]
    if replica.deleted_votes:
        if replica.partition.recovering_epoch is not None:
            return  # `_check_recovering` has asked why
        said += [_written_again(state, replica.node_id) for state in said]
        said += [None] if (0, -1, -1) in said else []
    if _election(found) not in said:
        broken("ElectionSafety", f"{replica.name} found quorum-state {found!r}, not {replica.stored!r}")


def _check_old_votes(replica: CheckedReplica) -> None:
    """A copy that lacks an epoch or a vote is noticed, or known to be lost."""
    found, lost = replica.partition.read_quorum_state(), replica.stored
    knows = replica.partition.recovering_epoch is not None or replica.promises_are_damaged
    if lost is None or knows or replica.raft.voter_set.is_only_voter(replica.key):
        return
    if found is None or found.epoch < lost.epoch:
        broken("ElectionSafety", f"{replica.name} takes part with {found!r}, it had stored {lost!r}")
    lacks_vote = lost.voted_id not in (-1, found.voted_id) and not found.has_leader()
    if found.epoch == lost.epoch and lacks_vote:
        broken("ElectionSafety", f"{replica.name} takes part with {found!r}, it had stored {lost!r}")


def _election(state: ElectionState | None) -> tuple[int, int, int] | None:
    return None if state is None else (state.epoch, state.leader_id, state.voted_id)


def _written_again(election: tuple[int, int, int] | None, node_id: int) -> tuple[int, int, int] | None:
    """Without the leader, unless that is this replica."""
    if election is None:
        return None
    epoch, leader_id, voted_id = election
    return epoch, leader_id if leader_id == node_id else -1, voted_id


def _check_snapshots(replica: CheckedReplica) -> None:
    latest = max(replica.partition.snapshots.ids(), default=None)
    start_offset = replica.partition.log.start_offset
    if start_offset > 0 and (latest is None or latest.offset < start_offset):
        broken("SnapshotAtLogStart", f"{replica.name} starts at {start_offset}, its snapshot is {latest}")
    end_offset = replica.partition.log.end_offset
    if latest is not None and latest.offset > end_offset:
        broken("SnapshotAtLogStart", f"{replica.name}: its log ends at {end_offset}, before {latest}")
    promised = replica.newest_snapshot
    if promised is None or replica.forgot_log:
        return
    if replica.is_damaged(checkpoint_file_name(promised)):
        replica.newest_snapshot = latest
    elif latest is None or latest.offset < promised.offset:
        broken("SnapshotAtLogStart", f"{replica.name} found {latest}, not its snapshot {promised}")


def check_has_recovered(history: LogHistory, replica: CheckedReplica) -> None:
    """Before it votes again, what was on its disk is there again, as far as its leader has committed it.

    Of what the leader commits later, other voters have a majority.
    """
    lost = replica.lost_log
    batches = [] if lost is None else lost.batches[: lost.count_before(lost.durable_end)]
    committed_end = replica.raft.high_watermark
    while batches and (batches[-1].end > committed_end or not history.is_committed(batches[-1])):
        batches.pop()
    if batches and not replica.log.is_durable(batches[-1]):
        broken(
            "Durability",
            f"{replica.name} votes again, and the committed {batches[-1]} that it lost is not on its disk",
        )


def check_log_content(replica: CheckedReplica) -> None:
    """The files, and what waits to be written, are the batches that were appended."""
    log = replica.partition.log
    start_offset = log.start_offset
    expected = b"".join(batch.data for batch in replica.log.batches if batch.base_offset >= start_offset)
    if log.end_offset != replica.log.end or read_log(log) != expected:
        broken(
            "LogMatching", f"{replica.name}: its log {start_offset}-{log.end_offset} is not what it appended"
        )


def check_log_start(replica: CheckedReplica) -> None:
    """Of the records before it there is a snapshot."""
    start_offset = replica.raft.log_start_offset
    ids = replica.partition.snapshots.ids()
    if start_offset > 0 and not any(snapshot_id.offset >= start_offset for snapshot_id in ids):
        broken("SnapshotAtLogStart", f"{replica.name}: log from {start_offset}, snapshots {ids}")


def check_epoch_before_start(replica: CheckedReplica) -> None:
    """Retention has moved the start: the record before it is known by its epoch only."""
    log = replica.partition.log
    start_offset = log.start_offset
    known, epoch = log.epoch_at(start_offset - 1), replica.log.epoch_before(start_offset)
    if known != epoch:
        broken(
            "LogMatching",
            f"{replica.name}: before its start {start_offset} its log has epoch {known}, that was {epoch}",
        )
