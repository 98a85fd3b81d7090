"""The directory `__cluster_metadata-0` as a whole: log, snapshots and election state, consistent at start."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from pathlib import Path

from kraftctl.node.events import END_OF_SNAPSHOT, SnapshotRead
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.log_state import LogState, SnapshotInfo
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from kraftctl.storage.checkpoint_parts import CheckpointParts
from kraftctl.storage.contradictions import Contradictions
from kraftctl.storage.directory_entries import names_in
from kraftctl.storage.errors import StorageError
from kraftctl.storage.halt import HaltFile
from kraftctl.storage.leader_epoch_checkpoint import read_leader_epochs
from kraftctl.storage.metadata_evidence import shows_partition
from kraftctl.storage.metadata_log import SEGMENT_BYTES, SEGMENT_MS, MetadataLog
from kraftctl.storage.only_voter import advise_the_only_voter
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl.storage.recovery_point import RecoveryPoint, RecoveryPointFile
from kraftctl.storage.replacing_a_replica import REPLACE_THIS_REPLICA
from kraftctl.storage.retention import Cleaned, next_to_delete
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl.storage.witness import Witness
from kraftctl_protocol.log_file_names import LOG_SUFFIX, PARTITION_DIRECTORY, parse_segment_file_name
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch
from kraftctl_protocol.record_batch import read_batch_header
from kraftctl_protocol.uuids import uuid_to_string

NO_VOTERS = VoterSet([])


class MetadataPartition:
    """The partition. Create it with `MetadataPartition.open`.

    `losses` lists what was lost for good, `warnings` what an operator must know or do, `notices` repairs
    without loss. What it reports as durable is already in the recovery point. `flush` may run in another
    thread, concurrently with everything else.
    """

    def __init__(
        self,
        log: MetadataLog,
        snapshots: SnapshotStore,
        quorum_state: QuorumStateStore,
        recovery_point: RecoveryPointFile,
        halt_file: HaltFile,
        node_id: int,
    ) -> None:
        self.log = log
        self.snapshots = snapshots
        self.quorum_state = quorum_state
        self.recovery_point = recovery_point
        self.warnings: list[str] = []
        self.losses: list[str] = []
        self.notices: list[str] = []
        self.recovering_epoch: int | None = None
        """The highest epoch in which this replica may have voted when log or votes are lost; else None."""
        self.committed_end = 0
        """Up to here (exclusive) everything is known to be committed, also from before the start."""
        self._halt_file = halt_file
        self._node_id = node_id
        self._parts: CheckpointParts | None = None
        """The snapshot that is being read."""
        self._cutting = threading.Lock()
        """The lock while the log is truncated: an earlier flush must not note removed records as durable."""

    @classmethod
    def open(
        cls,
        log_dir: Path,
        replica: ReplicaKey,
        *,
        now_ms: Callable[[], int],
        static_voters: VoterSet = NO_VOTERS,
        segment_bytes: int = SEGMENT_BYTES,
        segment_ms: int = SEGMENT_MS,
    ) -> MetadataPartition:
        """Recovers the partition in `log_dir`, or creates it. The caller holds the directory's lock.

        `static_voters` is empty for a dynamic quorum. Raises StorageError, HaltedError before anything is
        written.
        """
        try:
            return cls._open(log_dir, replica, now_ms, static_voters, segment_bytes, segment_ms)
        except StorageError as error:
            advise_the_only_voter(error, log_dir, replica, static_voters)
            raise

    @classmethod
    def _open(
        cls,
        log_dir: Path,
        replica: ReplicaKey,
        now_ms: Callable[[], int],
        static_voters: VoterSet,
        segment_bytes: int,
        segment_ms: int,
    ) -> MetadataPartition:
        halt_file = HaltFile(log_dir, replica.directory_id)
        former_halt = halt_file.refuse()
        directory = log_dir / PARTITION_DIRECTORY
        snapshots = SnapshotStore.open(directory)
        has_been_used = shows_partition(log_dir)
        quorum_state = QuorumStateStore(directory)
        recovery_point = RecoveryPointFile.open(log_dir, replica.directory_id, now_ms)
        former, warnings = None, list[str]()
        is_adopted = recovery_point.point is None
        if is_adopted:
            election = _readable(quorum_state)
            adopted = _adopted(replica, election, has_been_used=has_been_used)
            former = recovery_point.former
            if former is not None and _concerns(former, replica, static_voters, has_been_used):
                recovery_point.expect(adopted)
            else:
                warnings += _replaced(recovery_point)
                former = None
                _adopt(recovery_point, adopted, votes_are_gone=election is None and has_been_used)
        witness = Witness(directory, replica.directory_id)
        contradictions = Contradictions(
            replica=replica,
            witness=witness,
            static_voters=static_voters,
            snapshots=snapshots,
            quorum_state=quorum_state,
            recovery_point=recovery_point,
            is_adopted=is_adopted,
            former=former,
            leader_epochs=read_leader_epochs(directory),
        )
        log = MetadataLog.open(
            directory,
            segment_bytes=segment_bytes,
            segment_ms=segment_ms,
            start_epoch=_start_epoch(directory, snapshots),
            durable_end=contradictions.durable_end,
            epoch_max=contradictions.epoch_max,
            judge=contradictions.judge,
        )
        partition = cls(log, snapshots, quorum_state, recovery_point, halt_file, replica.id)
        partition.warnings += warnings + contradictions.warnings + log.recovery.warnings()
        partition.losses += contradictions.losses
        partition.notices += former_halt + contradictions.notices + log.recovery.notices()
        partition.notices += [f"removed unfinished snapshot {file}" for file in snapshots.removed_files]
        partition.recovering_epoch = contradictions.recovering_epoch
        partition._agree_with_snapshots()
        partition._begin(contradictions)
        witness.leave()
        return partition

    def _begin(self, contradictions: Contradictions) -> None:
        """Writes the recovery point, which is kept current from here on."""
        state = self.quorum_state.read()
        if contradictions.restored is not None:
            state = contradictions.restored
            self.quorum_state.write(state)
        known = self.recovery_point.point
        assert known is not None
        if state is not None:
            known = known.with_election(state, elected=state.leader_id == self._node_id)
        end_offset = self.log.durable_end_offset
        committed = contradictions.committed
        self.committed_end = committed.committed_end
        self.recovery_point.begin(
            known._replace(
                committed_epoch=committed.committed_epoch,
                committed_end=committed.committed_end,
                log_epoch=self.log.epoch_at(end_offset - 1),
                end_offset=end_offset,
                recovering=self.recovering_epoch is not None,
                log_is_whole=known.log_is_whole if self.recovering_epoch is not None else None,
                stopped=False,
            )
        )

    def _agree_with_snapshots(self) -> None:
        """A snapshot beyond the log replaces it; a log that starts above 0 needs a snapshot (KAFKA-14240)."""
        latest = self.snapshots.latest_id()
        log = self.log
        if latest is not None and _is_beyond(latest, log.last_epoch, log.end_offset):
            self._verify(latest)
            self.notices.append(
                f"the snapshot {latest} is newer than the log, which ends at offset {log.end_offset} in epoch"
                f" {log.last_epoch}: the log starts again at the snapshot"
            )
            log.truncate_fully_and_start_at(latest)
        if log.start_offset > 0 and (latest is None or latest.offset < log.start_offset):
            start_offset = log.start_offset
            log.close()
            raise StorageError(
                f"{log.directory} starts at offset {start_offset}, but no snapshot covers what came before"
                f" (the newest is {latest}). {REPLACE_THIS_REPLICA}"
            )
        self.snapshots.delete_before(log.start_offset)

    def _verify(self, snapshot_id: OffsetAndEpoch) -> None:
        """Verifies a snapshot that will replace the log: raises StorageError, with nothing lost, when it
        cannot.
        """
        try:
            self.snapshots.reader(snapshot_id).verify_snapshot()
        except StorageError:
            self.log.close()
            raise

    def log_state(self) -> LogState:
        return LogState(
            start_offset=self.log.start_offset,
            end_offset=self.log.end_offset,
            epochs=list(self.log.epochs),
            snapshots=self.snapshots.infos(),
        )

    def read_quorum_state(self) -> ElectionState | None:
        return self.quorum_state.read()

    def write_quorum_state(self, state: ElectionState) -> None:
        """Writes both files durably, in this order: a quorum-state older than the recovery point is
        always an old copy.
        """
        self.quorum_state.write(state)
        self.recovery_point.note_election(state, elected=state.leader_id == self._node_id)

    def note_recovered(self) -> None:
        """Notes durably that this replica has fetched again what it lost."""
        self.recovery_point.note_recovered()
        self.recovering_epoch = None

    def flush(self) -> int:
        """Flushes like MetadataLog.flush; may run in another thread."""
        end_offset = self.log.flush()
        with self._cutting:
            self._note_durable()
        return end_offset

    def _note_durable(self) -> None:
        """Notes the durable offset, which it reads again: a truncation may have followed the flush. What is
        committed beyond it may yet be lost here, and is not noted.
        """
        log = self.log
        end_offset = log.durable_end_offset
        committed_end = min(self.committed_end, end_offset)
        self.recovery_point.note_durable(
            log.epoch_at(end_offset - 1), end_offset, log.epoch_at(committed_end - 1), committed_end
        )

    def note_committed(self, end_offset: int) -> None:
        """Takes note of the high watermark, without waiting for the disk: the next flush writes it."""
        self.committed_end = max(self.committed_end, end_offset)

    def halt(self, reason: str, wall_ms: int) -> None:
        """Raises HaltedError, now and at each start: an operator has to decide."""
        try:
            with self._cutting:
                self._note_durable()
                self.recovery_point.force()
        except StorageError as error:
            reason = f"{reason} What is committed could not be written down: {error}"
        raise self._halt_file.write(reason, wall_ms)

    def truncate_log(self, end_offset: int) -> None:
        """Drops every batch that holds `end_offset` or more, durably."""
        log = self.log
        if end_offset >= log.end_offset:
            return
        with self._cutting:
            kept_end_offset = read_batch_header(log.read(end_offset, 1), 0).base_offset
            assert kept_end_offset >= self.committed_end, "nothing that is committed is truncated"
            if kept_end_offset < log.durable_end_offset:
                self.recovery_point.note_cut(log.epoch_at(kept_end_offset - 1), kept_end_offset)
            log.truncate_to(end_offset)

    def read_snapshot_part(self, snapshot_id: OffsetAndEpoch, position: int, bytes_max: int) -> SnapshotRead:
        """Reads a part of one snapshot at a time: from its start, or from where the part before ended.

        Raises StorageError when the file is damaged.
        """
        if position == 0:
            self._close_parts()
            self._parts = CheckpointParts(self.snapshots.path(snapshot_id))
        parts = self._parts
        assert parts is not None, "the first part begins at 0"
        assert parts.path == self.snapshots.path(snapshot_id), f"{parts.path} is being read"
        assert parts.position == position, f"the next part of {parts.path} begins at {parts.position}"
        data, next_position = parts.read_next(bytes_max)
        if next_position is None:
            self._close_parts()
            next_position = END_OF_SNAPSHOT
        return SnapshotRead(snapshot_id, position, data, next_position)

    def _close_parts(self) -> None:
        if self._parts is not None:
            self._parts.close()
            self._parts = None

    def read_snapshot_slice(self, snapshot_id: OffsetAndEpoch, position: int, size_bytes: int) -> bytes:
        return self.snapshots.read_slice(snapshot_id, position, size_bytes)

    def write_snapshot_part(self, snapshot_id: OffsetAndEpoch, batches: list[bytes], position: int) -> None:
        """Writes all parts but the last one; may run in another thread, like the two below."""
        self.snapshots.write_part(snapshot_id, batches, position)

    def write_snapshot(
        self, snapshot_id: OffsetAndEpoch, batches: list[bytes], position: int = 0
    ) -> SnapshotInfo:
        """Writes the last part, or the whole. It is durable when this returns."""
        return self.snapshots.write(snapshot_id, batches, position)

    def abandon_snapshot(self) -> None:
        """Removes what was written without a last part."""
        self.snapshots.abandon()

    def start_over_at(self, snapshot_id: OffsetAndEpoch) -> None:
        """Drops the whole log: a downloaded snapshot replaces it (KIP-630)."""
        with self._cutting:
            self.log.truncate_fully_and_start_at(snapshot_id)
            self.recovery_point.note_cut(snapshot_id.epoch, snapshot_id.offset)
        self.snapshots.delete_before(snapshot_id.offset)

    def clean(
        self,
        wall_ms: int,
        retention_bytes: int,
        retention_ms: int,
        held: Collection[OffsetAndEpoch] = (),
    ) -> Cleaned | None:
        """Applies metadata.max.retention.bytes and .ms (negative: unlimited); None when nothing is due.

        The oldest snapshot is deleted while it is too old or everything together is too large. The newest
        always stays, and one of those that are `held`. The log starts at the oldest that is left: after a
        start it may begin before that, where the epoch of the record in front is not known.
        """
        deleted: list[OffsetAndEpoch] = []
        while len(ids := self.snapshots.ids()) >= 2:
            doomed = next_to_delete(ids, held)
            if doomed is None or not self._is_expired(ids[0], wall_ms, retention_bytes, retention_ms):
                break
            oldest = ids[1] if doomed == ids[0] else ids[0]
            with self._cutting:
                self.log.delete_segments_before(oldest.offset)
            self.snapshots.delete([doomed])
            deleted.append(doomed)
        return Cleaned(self.log.start_offset, deleted) if deleted else None

    def _is_expired(
        self, snapshot_id: OffsetAndEpoch, wall_ms: int, retention_bytes: int, retention_ms: int
    ) -> bool:
        snapshot_bytes = sum(info.size_bytes for info in self.snapshots.infos())
        if 0 <= retention_bytes < self.log.size_bytes + snapshot_bytes:
            return True
        if retention_ms < 0:
            return False
        written_ms = self.snapshots.reader(snapshot_id).header().last_contained_log_timestamp_ms
        return wall_ms - written_ms > retention_ms

    def close(self) -> None:
        """Flushes and closes. The recovery point is then exact, unless something failed."""
        stopped = False
        self._close_parts()
        self.snapshots.abandon()
        try:
            was_in_service = self.log.is_in_service
            self.log.close()
            if was_in_service:
                self._note_durable()
                stopped = True
        finally:
            self.recovery_point.close(stopped=stopped)


def _is_beyond(snapshot_id: OffsetAndEpoch, last_epoch: int, end_offset: int) -> bool:
    """Returns whether a snapshot ends after the log.

    All of a snapshot is committed, so the log has no committed record that the snapshot lacks, whatever the
    epoch of its tail.
    """
    if snapshot_id == BOOTSTRAP_SNAPSHOT_ID:
        return False
    return snapshot_id.epoch > last_epoch or snapshot_id.offset > end_offset


def _concerns(
    former: RecoveryPoint, replica: ReplicaKey, static_voters: VoterSet, has_been_used: bool
) -> bool:
    """Returns whether the promises of an earlier replica in this directory may be those of `replica`.

    A static voter is the same with every directory id, also after its log was removed. A new voter of a
    dynamic quorum, without a log, has promised nothing.
    """
    return has_been_used or (static_voters.is_voter(replica) and former.has_taken_part)


def _replaced(file: RecoveryPointFile) -> list[str]:
    """Returns a line if the file is of an earlier replica."""
    if file.former is None:
        return []
    former_id = uuid_to_string(file.former.directory_id)
    return [f"{file.path} is of an earlier replica, directory.id {former_id}: it is replaced"]


def _readable(quorum_state: QuorumStateStore) -> ElectionState | None:
    """Returns what quorum-state says; None if it is missing, or damaged, which is refused later."""
    try:
        return quorum_state.read()
    except StorageError:
        return None


def _adopt(file: RecoveryPointFile, adopted: RecoveryPoint, *, votes_are_gone: bool) -> None:
    """Writes the point before anything is refused: what is lost after that is missed at the next start.

    Without votes, the file says that this replica recovers until this start has judged. If it is refused or
    killed before, the next one would take the point for what this replica has promised.
    """
    file.begin(adopted._replace(recovering=True, log_is_whole=True) if votes_are_gone else adopted)
    file.expect(adopted)


def _adopted(replica: ReplicaKey, election: ElectionState | None, *, has_been_used: bool) -> RecoveryPoint:
    """Returns the recovery point of a directory of Kafka or an older version, or of a new one.

    `has_been_used`: a controller has started on it, and may have voted before its log had a record. It is
    `stopped`, since it is unknown how far the log was flushed.
    """
    if election is not None:
        point = RecoveryPoint(replica.directory_id, stopped=True)
        return point.with_election(election, elected=election.leader_id == replica.id)
    return RecoveryPoint(replica.directory_id, quorum_epoch=int(has_been_used), stopped=True)


def _start_epoch(directory: Path, snapshots: SnapshotStore) -> int:
    """Returns the epoch of the snapshot that ends exactly where the first segment starts, else 0."""
    names = [name for name in names_in(directory) if name.endswith(LOG_SUFFIX)]
    first = parse_segment_file_name(names[0]) if names else None
    return max((id_.epoch for id_ in snapshots.ids() if id_.offset == first), default=0)
