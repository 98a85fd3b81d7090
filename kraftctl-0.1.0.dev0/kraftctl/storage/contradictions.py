"""Compares log, quorum-state, leader-epoch-checkpoint and recovery point at start, before it writes anything.

| found | outcome |
|---|---|
| quorum-state is gone, and nothing else has opened the log since | it is written again, as it was |
| quorum-state is gone otherwise, or the log is | it does not vote until it has fetched everything again |
| the same, and it is the only voter | log gone: refused; quorum-state gone: it starts, no other node voted |
| recovery point or witness are of another directory.id, and there is a log, or a static voter | the same |
| the log ends before the recovery point | refused: it was truncated, or replaced by an older copy |
| quorum-state is of an earlier epoch, or without the vote | refused |
| a batch or a snapshot of a later epoch than quorum-state | refused: an epoch is in quorum-state first |
| leader-epoch-checkpoint differs below the recovery point | refused |
| another record than the one that the recovery point knows to be committed | refused |
| the same, and another controller has opened the log since | the recovery point is stale: a line at ERROR |

Kafka's controller may have used the directory in between: it appends, truncates in a later epoch, votes in
later epochs, and does not update the recovery point. It deletes the witness.
"""

from __future__ import annotations

from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from kraftctl.storage.committed_end import has_committed, what_was_replaced
from kraftctl.storage.control_history import ControlHistory, read_control_history
from kraftctl.storage.errors import StorageError
from kraftctl.storage.former_recovery_point import keep_former
from kraftctl.storage.halt import has_given_up
from kraftctl.storage.leader_epoch_checkpoint import FILE_NAME as LEADER_EPOCHS_FILE_NAME
from kraftctl.storage.metadata_log import MetadataLog
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl.storage.recovery import DurableEnd
from kraftctl.storage.recovery_point import RecoveryPoint, RecoveryPointFile
from kraftctl.storage.replacing_a_replica import (
    BRING_THE_LOG_BACK,
    FOLLOW_THE_OTHERS,
    LET_IT_VOTE,
    REPLACE_THIS_REPLICA,
    RESTORE_IT,
    RESTORE_THE_ONLY_VOTER,
)
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl.storage.witness import Witness
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch
from kraftctl_protocol.uuids import uuid_to_string


class Contradictions:
    """Make one before the log is opened, then `judge` the log. `recovering_epoch` is the outcome.

    `recovery_point` has begun, or expects to. In a directory that `is_adopted` there was none: it knows of no
    record.

    `former`: what the recovery point says, if it is of another replica that may have been this one.

    `leader_epochs` is the leader-epoch-checkpoint, None when it is missing.
    """

    def __init__(
        self,
        *,
        replica: ReplicaKey,
        witness: Witness,
        static_voters: VoterSet,
        snapshots: SnapshotStore,
        quorum_state: QuorumStateStore,
        recovery_point: RecoveryPointFile,
        is_adopted: bool,
        former: RecoveryPoint | None,
        leader_epochs: list[tuple[int, int]] | None,
    ) -> None:
        """Raises StorageError when quorum-state contradicts the recovery point."""
        self.recovering_epoch: int | None = None
        self.committed = RecoveryPoint(replica.directory_id)
        """Up to where the log is known to be committed; of this point nothing else counts."""
        self.restored: ElectionState | None = None
        """The content of a lost quorum-state that can be restored; else None."""
        self.notices: list[str] = []
        self.warnings: list[str] = []
        self.losses: list[str] = []
        """The lines that become MetadataPartition's."""
        self._replica = replica
        self._static_voters = static_voters
        self._snapshots = snapshots
        self._quorum_state = quorum_state
        self._file = recovery_point
        assert recovery_point.point is not None
        self._point = recovery_point.point
        self._is_adopted = is_adopted
        self._former = former
        self._leader_epochs = leader_epochs
        self._election = quorum_state.read()
        self._is_witnessed = self._election is None and witness.is_there()
        self._witness = witness
        if self._election is not None and not self._point.recovering:
            self._check_votes(self._election)

    @property
    def epoch_max(self) -> int | None:
        """No batch of the log may be of a later epoch. None when that is not known."""
        return None if self._election is None else max(self._election.epoch, self._point.quorum_epoch)

    @property
    def durable_end(self) -> DurableEnd | None:
        """The part of the log that is known to be durable. None: unknown, or another program wrote since.

        A later epoch in quorum-state is of another program, or power failed between the write of
        quorum-state and that of the recovery point.
        """
        point = self._point
        if point.recovering:
            return None
        if self._election is None or self._election.epoch <= point.quorum_epoch:
            return DurableEnd(point.end_offset, is_exact=not point.stopped)
        if point.stopped:
            return None
        return DurableEnd(point.end_offset, is_exact=True, epoch_max=point.quorum_epoch)

    def _check_votes(self, election: ElectionState) -> None:
        """Refuses a quorum-state that is older than the recovery point: it is an old copy."""
        point = self._point
        if election.epoch < point.quorum_epoch:
            raise StorageError(
                f"{self._quorum_state.path} is of epoch {election.epoch}, but this replica took part in epoch"
                f" {point.quorum_epoch} ({self._file.path}): it is an older copy, and votes are missing."
                f" {REPLACE_THIS_REPLICA}"
            )
        vote_is_missing = point.voted_id not in (-1, election.voted_id) and not election.has_leader()
        if election.epoch == point.quorum_epoch and vote_is_missing:
            raise StorageError(
                f"{self._quorum_state.path} does not hold the vote for {point.voted_id} that this replica"
                f" gave in epoch {point.quorum_epoch} ({self._file.path}): it is an older copy."
                f" {REPLACE_THIS_REPLICA}"
            )
        if election.epoch == point.quorum_epoch and point.elected and election.leader_id != self._replica.id:
            raise StorageError(
                f"{self._quorum_state.path} does not say that this replica was elected in epoch"
                f" {point.quorum_epoch} ({self._file.path}): it is an older copy. {REPLACE_THIS_REPLICA}"
            )

    def judge(self, log: MetadataLog) -> None:
        """Judges the log after every batch is read and before anything is written. Raises StorageError."""
        log_is_gone = self._point.end_offset > 0 and self._is_empty(log)
        known = self._former or self._point
        if has_committed(log, self._latest_snapshot_id(), known):
            self.committed = known
        log_is_whole = False if log_is_gone else self._is_whole(log)
        if self._point.recovering:
            reason = "it stopped before it had fetched everything again"
            self._recover(
                log, reason, log_is_whole=False if log_is_whole is False else self._point.log_is_whole
            )
            return
        if self._distrusts(log):
            return
        votes_are_gone = self._election is None and self._has_taken_part(log)
        doubt = self._doubt(log) if votes_are_gone else None
        if log_is_gone and not self._is_only_voter(log):
            self._recover(log, f"the log in {log.directory} is gone", log_is_whole=False)
        elif doubt is not None and not self._is_only_voter(log):
            reason = f"{self._quorum_state.path} is missing, and with it the votes; {doubt}"
            self._recover(log, reason, log_is_whole=log_is_whole)
        else:
            self._check_snapshot_epoch()
            self._check_end(log)
            self._check_leader_epochs(log)
            self._check_committed(log)
            if doubt is not None:
                self._begin_alone(log)
            elif votes_are_gone:
                self._restore(log)

    def _distrusts(self, log: MetadataLog) -> bool:
        """Returns whether this replica recovers: nothing proves how it has voted, nor where its log ended."""
        former, former_id, path = self._former, self._witness.former_id(), self._witness.path
        if former is not None:
            former_id, path = uuid_to_string(former.directory_id), self._file.path
        if former_id is None:
            return False
        missing = self._what_is_missing(log, former or self._point)
        was_lost = former is not None and former.log_is_whole is False
        if was_lost or not self._is_only_voter(log):
            log_is_whole = None if former is not None else self._is_whole(log)
            reason = "and proves neither how this one has voted nor that its log is whole"
            if former is not None and self._is_empty(log):
                reason = (
                    f"which took part in epoch {former.quorum_epoch} with a log of {former.end_offset}"
                    " records: this directory was formatted again, and that log is not here"
                )
            self._recover(
                log,
                f"{path} is of an earlier replica, directory.id {former_id}, {reason}",
                log_is_whole=False if was_lost or missing is not None else log_is_whole,
                epoch_min=0 if former is None else former.quorum_epoch,
            )
            return True
        if missing is not None:
            raise StorageError(f"{missing}. {RESTORE_THE_ONLY_VOTER}")
        self.warnings.append(
            f"{path} is of an earlier replica, directory.id {former_id}: it is replaced. This node is the"
            " only voter, so no other node can have been elected"
        )
        return False

    def _is_whole(self, log: MetadataLog) -> bool | None:
        """Returns None if the recovery point knows of no record, as in a directory that was just adopted."""
        if self._what_is_missing(log, self._point) is not None:
            return False
        return None if self._point.end_offset == 0 and not self._is_empty(log) else True

    def _doubt(self, log: MetadataLog) -> str | None:
        """Returns why the recovery point may not have the last vote of this replica; None if it has.

        It is written after quorum-state and before anyone learns of the epoch or the vote. So only another
        controller could have given a later one: every one that opens the log deletes the witness.
        """
        point = self._point
        if not self._is_witnessed:
            return f"another controller may have voted since: {self._witness.path} is not there, either"
        if self._is_adopted:
            return f"{self._file.path} is missing, too"
        epochs = [log.last_epoch, *(epoch for epoch, _ in self._leader_epochs or [])]
        if (latest := self._snapshots.latest_id()) is not None:
            epochs.append(latest.epoch)
        if max(epochs) > point.quorum_epoch:
            return (
                f"{log.directory} has epoch {max(epochs)}, and {self._file.path} only knows epoch"
                f" {point.quorum_epoch}"
            )
        missing = self._what_is_missing(log, self._point)
        if missing is None and point.stopped and log.end_offset != point.end_offset:
            missing = (
                f"the log ends at offset {log.end_offset}, when it was stopped it ended at {point.end_offset}"
                f" ({self._file.path})"
            )
        return missing

    def _restore(self, log: MetadataLog) -> None:
        self.restored = restored = self._point.election(self._replica.id)
        vote = restored.voted_key()
        if self._point.elected:
            promised = "that it was elected"
        else:
            promised = "no vote" if vote is None else f"the vote for {vote}"
        self.notices.append(
            f"{self._quorum_state.path} is missing. Only this controller has opened the log since it was"
            f" written: {self._file.path} and {self._witness.path} agree with the log, which ends at offset"
            f" {log.end_offset} in epoch {log.last_epoch}. It is written again with epoch"
            f" {restored.epoch} and {promised}"
        )

    def _is_empty(self, log: MetadataLog) -> bool:
        return log.size_bytes == 0 and self._snapshots.latest_id() in (None, BOOTSTRAP_SNAPSHOT_ID)

    def _has_taken_part(self, log: MetadataLog) -> bool:
        return self._point.quorum_epoch > 0 or self._point.end_offset > 0 or not self._is_empty(log)

    def _is_only_voter(self, log: MetadataLog) -> bool:
        history: ControlHistory = read_control_history(log, self._snapshots)
        voters = history.voters[-1][1] if history.voters else self._static_voters
        return voters.is_only_voter(self._replica)

    def _recover(
        self, log: MetadataLog, reason: str, *, log_is_whole: bool | None, epoch_min: int = 0
    ) -> None:
        """Starts the recovery. It is written before anything else: this replica must know it after a
        crash, too.
        """
        stored_epoch = 0 if self._election is None else self._election.epoch
        self.recovering_epoch = max(self._point.quorum_epoch, log.last_epoch, stored_epoch, epoch_min)
        lost_before = (self._former or self._point).log_is_whole is False
        if log_is_whole is False and not lost_before:
            keep_former(self._file.path)
        self._file.begin(
            RecoveryPoint(
                self._replica.directory_id,
                quorum_epoch=self.recovering_epoch,
                recovering=True,
                log_is_whole=log_is_whole,
                committed_epoch=self.committed.committed_epoch,
                committed_end=self.committed.committed_end,
            )
        )
        advice = LET_IT_VOTE
        if log_is_whole is False and has_given_up(self._file.path.parent):
            advice = FOLLOW_THE_OTHERS
        elif log_is_whole is False:
            advice = BRING_THE_LOG_BACK if self._is_empty(log) else RESTORE_IT
        self.warnings.append(
            f"This replica is recovering and does not vote: {reason}. It votes again after it has fetched"
            f" all committed records from a leader of epoch {self.recovering_epoch} or later. If the"
            " other voters alone are no majority, as in a quorum of one or two,"
            f" {advice} (docs/operations/lost-disk.md)"
        )

    def _begin_alone(self, log: MetadataLog) -> None:
        epoch = max(self._point.quorum_epoch, log.last_epoch)
        is_known = epoch == self._point.quorum_epoch
        self.restored = self._point.election(self._replica.id) if is_known else ElectionState(epoch=epoch)
        self.warnings.append(
            f"{self._quorum_state.path} is missing, but the log is whole. This node is the only voter, so"
            f" no other node can have been elected: it starts again from epoch {epoch}"
        )

    def _check_end(self, log: MetadataLog) -> None:
        missing = self._what_is_missing(log, self._point)
        if missing is not None:
            next_step = RESTORE_THE_ONLY_VOTER if self._is_only_voter(log) else REPLACE_THIS_REPLICA
            raise StorageError(f"{missing}. {next_step}")

    def _check_committed(self, log: MetadataLog) -> None:
        """Checks what was committed: another controller may have truncated it, and written other records."""
        point = self._point
        if self.committed.committed_end == point.committed_end:
            return
        replaced = what_was_replaced(log, point, self._file.path)
        if self._witness.is_there():
            raise StorageError(
                f"{replaced}, and no other controller has opened it since: the log was changed."
                f" {REPLACE_THIS_REPLICA}"
            )
        self.losses.append(
            f"Another controller has truncated committed records ({self._witness.path} is not there):"
            f" {replaced}. This replica uses the log as it is. This line is written once. Next step: copy the"
            " directories of all voters now, then compare (kraftctl dump log ...)"
        )

    def _latest_snapshot_id(self) -> OffsetAndEpoch:
        return self._snapshots.latest_id() or BOOTSTRAP_SNAPSHOT_ID

    def _what_is_missing(self, log: MetadataLog, point: RecoveryPoint) -> str | None:
        latest = self._latest_snapshot_id()
        end = max((log.last_epoch, log.end_offset), (latest.epoch, latest.offset))
        if end >= (point.log_epoch, point.end_offset) or latest.offset >= point.end_offset:
            return None
        return (
            f"{log.last_segment_path} ends at offset {log.end_offset} in epoch {log.last_epoch}, but up to"
            f" offset {point.end_offset} in epoch {point.log_epoch} everything was durable"
            f" ({self._file.path}): it was truncated, deleted or replaced by an older copy"
        )

    def _check_snapshot_epoch(self) -> None:
        """Checks a snapshot beyond the log, which replaces it: its name must be one that a leader can
        have given it.
        """
        latest = self._snapshots.latest_id()
        if latest is not None and self.epoch_max is not None and latest.epoch > self.epoch_max:
            raise StorageError(
                f"{self._snapshots.path(latest)} is of epoch {latest.epoch}, but quorum-state of epoch"
                f" {self.epoch_max}: an epoch is in quorum-state before a snapshot of it is written or"
                f" fetched. {REPLACE_THIS_REPLICA}"
            )

    def _check_leader_epochs(self, log: MetadataLog) -> None:
        """Checks the epochs up to the recovery point: after it, a crash may separate log and checkpoint."""
        if not self._leader_epochs or not log.epochs:
            return
        start = max(self._leader_epochs[0][1], log.epochs[0][1])
        end = self._point.end_offset
        if start >= end:
            return
        stored = _between(self._leader_epochs, start, end)
        found = _between(log.epochs, start, end)
        if stored != found:
            raise StorageError(
                f"{log.directory / LEADER_EPOCHS_FILE_NAME} says that the epochs of the offsets {start} to"
                f" {end - 1} are {_text(stored)}, the batches of the log say {_text(found)} (epoch from"
                f" offset): one of them was changed or is an older copy. {REPLACE_THIS_REPLICA}"
            )


def _between(epochs: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Returns the (epoch, start offset) pairs for `start` to `end` (exclusive), as if the log began at
    `start`.
    """
    inside: list[tuple[int, int]] = []
    for epoch, offset in epochs:
        if offset <= start:
            inside = [(epoch, start)]
        elif offset < end:
            inside.append((epoch, offset))
    return inside


def _text(epochs: list[tuple[int, int]]) -> str:
    return ", ".join(f"{epoch} from {offset}" for epoch, offset in epochs) or "none"
