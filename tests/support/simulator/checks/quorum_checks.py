"""The invariants of the quorum, checked after every step and before every effect of every node.

`stepped` and `before` are called for every event and effect, so the common case is a few comparisons: whole
logs are compared by `log_history` as they grow. What a message claims is checked by `quorum_claims`, what a
new process found on its disk by `recovery_checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kraftctl.node.events import ClientRequest, NodeEffect, NodeEvent, ReadSnapshot, WriteSnapshot
from kraftctl.raft.effects import (
    AppendBatch,
    FinishSnapshot,
    FlushLog,
    Halt,
    NoteRecovered,
    Respond,
    RespondFetch,
    SaveSnapshotSlice,
    SendRequest,
    StartOver,
    TruncateLog,
    WriteQuorumState,
)
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import (
    LogFlushed,
    LogStartChanged,
    RequestCancelled,
    SnapshotCreated,
    SnapshotDownloaded,
)
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.support.simulator.checks import (
    acknowledgements,
    announcements,
    quorum_claims,
    recovery_checks,
    voter_changes,
)
from tests.support.simulator.checks.checked_replica import CheckedReplica
from tests.support.simulator.checks.commit_checks import CommitChecks
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.checks.log_history import Batch, LogHistory
from tests.support.simulator.checks.process_view import ProcessView
from tests.support.simulator.checks.voter_changes import is_same, majorities_overlap

LEADER = "Leader"
STATES_OF_VOTERS = frozenset(["Prospective", "Candidate"])


class QuorumChecks:
    """`committed` is called with each batch that becomes committed, in the order of the log.

    `snapshot_written` is called with the id and the batches of each snapshot that a node is about to write.
    """

    def __init__(
        self,
        history: LogHistory,
        committed: Callable[[Batch], None],
        snapshot_written: Callable[[str, OffsetAndEpoch, list[bytes]], None],
    ) -> None:
        self.history = history
        self.commits = CommitChecks(history, committed)
        self.replicas = self.commits.replicas
        self.running: dict[int, CheckedReplica] = {}
        self.leaders: dict[int, tuple[int, int]] = {}
        """Epoch -> (node id, life) of its leader, once its disk says that it leads."""
        self.elected: dict[int, int] = {}
        """Epoch -> the leader that any quorum-state names."""
        self.votes: dict[tuple[ReplicaKey, int], int] = {}
        """(voter, epoch) -> the candidate it voted for, across crashes."""
        self._snapshot_written = snapshot_written
        self._before: dict[type, Callable[[CheckedReplica, NodeEffect], None]] = {
            AppendBatch: self._append,
            FlushLog: self._flush,
            WriteQuorumState: self._write_quorum_state,
            TruncateLog: self._truncate,
            StartOver: self._start_over,
            SaveSnapshotSlice: self._load_snapshot,
            FinishSnapshot: self._load_snapshot,
            ReadSnapshot: self._load_snapshot,
            NoteRecovered: self._note_recovered,
            announcements.SNAPSHOT_PART: announcements.take_part,
            WriteSnapshot: self._write_snapshot,
            SendRequest: quorum_claims.check_request,
            Respond: self._respond,
            RespondFetch: self._respond_fetch,
            Halt: self._halt,
        }
        self._after_step: dict[type, Callable[[CheckedReplica, NodeEvent], None]] = {
            LogStartChanged: self._log_start_changed,
            SnapshotCreated: self._snapshot_created,
            ClientRequest: acknowledgements.requested,
            RequestCancelled: acknowledgements.cancelled,
        }

    # The life of a process.

    def started(self, process: ProcessView) -> None:
        """Before its first step: what it found on its disk is what it has promised."""
        replica = self.replicas.get(process.key)
        is_new = replica is None
        if replica is None:
            replica = self.replicas[process.key] = CheckedReplica(process.key, self.leaders)
        replica.raft = process.raft
        replica.controller = process.controller
        replica.partition = process.partition
        if len(self.commits.first_voters) == 0 and process.partition.log.end_offset == 0:
            self.commits.first_voters = process.raft.voter_set
        recovery_checks.check(self.history, replica, is_new=is_new)
        if replica.stored is not None:
            quorum_claims.remember_vote(self.votes, replica.key, replica.stored)
            self._count_election(replica, replica.stored)
        replica.begins(process.life, process.raft.epoch)
        self.running[process.node_id] = replica
        self.commits.check_durability()

    def ended(self, process: ProcessView) -> None:
        """Killed, powered off, stopped or failed."""
        del self.running[process.node_id]

    def forgot(self, key: ReplicaKey, *, log: bool, votes: bool) -> None:
        """Its disk has lost its log or its votes, but not its identity and its recovery point.

        What its former process sent must not be delivered any more.
        """
        replica = self.replicas.get(key)
        if replica is None:
            return  # it has never been started
        if replica.log.durable_end == 0 and (replica.stored is None or replica.stored.epoch == 0):
            replica.promised_nothing = True
            replica.newest_snapshot = None
            return  # it has promised nothing that others know
        replica.forgot_log |= log
        replica.forgot_votes |= votes
        if log:
            replica.lose_log()
        self.commits.check_durability()

    def replaced(self, key: ReplicaKey) -> None:
        """Its directory is gone, with its identity: only a new replica can take its place."""
        replica = self.replicas.get(key)
        if replica is None:
            return  # it has never been started
        replica.lose_log()
        replica.is_gone = True
        self.commits.check_durability()

    def damaged(self, key: ReplicaKey, file: str) -> None:
        """A file of this name has rotted. The next start notices what that took from it, or is refused."""
        replica = self.replicas.get(key)
        if replica is not None:
            replica.damaged_files.add(file)

    # After each step.

    def stepped(self, process: ProcessView, event: NodeEvent) -> None:
        """After the step, before its effects are carried out."""
        replica = self.running[process.node_id]
        if replica.storing is not None:
            self._stored(replica)
        kind = type(event)
        if kind is LogFlushed:
            assert isinstance(event, LogFlushed)
            self._flushed(replica, event.end_offset)
        replica.step_request = -1
        raft = replica.raft
        epoch = raft.epoch
        state_name = raft.state_name
        if epoch != replica.epoch or state_name != replica.state_name:
            if kind is ClientRequest:
                quorum_claims.check_pre_vote(replica, event, epoch, state_name)
            self._state_changed(replica, epoch, state_name)
        high_watermark = raft.high_watermark
        if high_watermark != replica.high_watermark:
            self._high_watermark_changed(replica, high_watermark, starts_over=kind is SnapshotDownloaded)
        active = replica.controller.active
        if active is not replica.active:
            self._active_changed(replica, active)
        check = self._after_step.get(kind)
        if check is not None:
            check(replica, event)

    def _flushed(self, replica: CheckedReplica, end_offset: int) -> None:
        if end_offset > replica.log.end and not replica.log.flush_is_stale:
            broken(
                "Durability", f"{replica.name} flushed up to {end_offset}, its log ends at {replica.log.end}"
            )
        durable_end = replica.partition.log.durable_end_offset
        if end_offset > durable_end and not replica.log.flush_is_stale:
            broken("Durability", f"{replica.name} takes {end_offset} for flushed, {durable_end} is")
        replica.log.flushed(end_offset)

    def _state_changed(self, replica: CheckedReplica, epoch: int, state_name: str) -> None:
        if epoch < replica.epoch:
            broken("MonotonicEpoch", f"{replica.name} went from epoch {replica.epoch} to {epoch}")
        if epoch != replica.epoch:
            replica.epoch_start = replica.announced = -1
        if state_name in STATES_OF_VOTERS or state_name == LEADER:
            self._check_may_be_elected(replica, epoch, state_name)
        if state_name == LEADER and (epoch != replica.epoch or replica.state_name != LEADER):
            self._elected(replica, epoch)
        if state_name != LEADER and replica.active and replica.controller.active:
            broken("SingleLeader", f"{replica.name} is active in epoch {epoch} but {state_name}")
        replica.epoch = epoch
        replica.state_name = state_name

    def _check_may_be_elected(self, replica: CheckedReplica, epoch: int, state_name: str) -> None:
        """A leader that removed itself leads until that is committed."""
        if replica.is_recovering:
            broken("ObserversNeverVote", f"{replica.name} recovers, but is {state_name} of epoch {epoch}")
        if state_name != LEADER and not replica.is_voter:
            broken("ObserversNeverVote", f"{replica.name} is no voter, but {state_name} of epoch {epoch}")

    def _elected(self, replica: CheckedReplica, epoch: int) -> None:
        leader = self.leaders.get(epoch)
        if leader is not None:
            broken("SingleLeader", f"{replica.name} leads epoch {epoch}, as (node, life) {leader} did")
        committed = self.history.committed
        if committed and not self.history.is_ahead_of(epoch) and not replica.log.holds(committed[-1]):
            broken(
                "LeaderCompleteness",
                f"{replica.name} leads epoch {epoch} without the committed batch {committed[-1]}; its log"
                f" ends at {replica.log.end}",
            )

    def _active_changed(self, replica: CheckedReplica, active: bool) -> None:
        replica.active = active
        if not active:
            replica.renounced_count += 1
            return
        if replica.state_name != LEADER:
            broken("SingleLeader", f"{replica.name} is active in epoch {replica.epoch}, and does not lead it")
        if replica.high_watermark <= replica.epoch_start or replica.epoch_start < 0:
            broken(
                "LeaderCompleteness",
                f"{replica.name} became active with high watermark {replica.high_watermark}, before the start"
                f" {replica.epoch_start} of epoch {replica.epoch} was committed",
            )

    # What is committed.

    def _high_watermark_changed(self, replica: CheckedReplica, offset: int, *, starts_over: bool) -> None:
        if offset < replica.high_watermark:
            broken(
                "MonotonicHighWatermark",
                f"{replica.name} in epoch {replica.epoch} went from {replica.high_watermark} to {offset}",
            )
        if replica.state_name == LEADER and (replica.epoch_start < 0 or offset <= replica.epoch_start):
            broken(
                "LeaderCompleteness",
                f"{replica.name} committed {offset}, before a record of its epoch {replica.epoch}, which"
                f" starts at {replica.epoch_start}",
            )
        replica.high_watermark = offset
        if offset > replica.log.end or starts_over:
            replica.owed_commit = offset
        else:
            self.commits.commit(replica, offset)
            if replica.state_name == LEADER:
                self._check_still_votes(replica, offset)

    def _check_still_votes(self, replica: CheckedReplica, offset: int) -> None:
        """A leader that removed itself leads until that is committed."""
        if replica.is_voter or not replica.log.batches:
            return
        voters_batch = replica.log.batches[-1].voters_batch
        if voters_batch is not None and voters_batch.end <= offset:
            broken("OnlyVotersLead", f"{replica.name} leads, and {voters_batch} without it is committed")

    # Before each effect.

    def before(self, process: ProcessView, effect: NodeEffect) -> None:
        """What must hold, and be on the disk, before this effect is carried out."""
        replica = self.running.get(process.node_id)
        if replica is None:
            broken("AckedValueNotLost", f"node {process.node_id}: {effect!r}, but its process failed")
        if replica.storing is not None:
            self._stored(replica)
        check = self._before.get(type(effect))
        if check is not None:
            check(replica, effect)

    def _stored(self, replica: CheckedReplica) -> None:
        """Something else happens on the node, so what it stored is on the disk."""
        effect = replica.storing
        replica.storing = None
        if isinstance(effect, WriteQuorumState):
            replica.stored = effect.state
            self._count_election(replica, effect.state)
            if replica.state_name == LEADER and effect.state.leader_id == replica.node_id:
                self.leaders[effect.state.epoch] = (replica.node_id, replica.life)
        elif isinstance(effect, NoteRecovered):
            replica.is_recovering = replica.forgot_log = replica.forgot_votes = False
            replica.lost_log = None
        else:
            replica.log.cut = []

    def _append(self, replica: CheckedReplica, effect: NodeEffect) -> None:
        assert isinstance(effect, AppendBatch)
        log = replica.log
        previous = log.batches[-1] if log.batches else None
        if effect.base_offset != log.end:
            broken(
                "LogMatching", f"{replica.name} appends at {effect.base_offset}, its log ends at {log.end}"
            )
        if previous is not None and effect.epoch < previous.epoch:
            broken("LogMatching", f"{replica.name} appends epoch {effect.epoch} after {previous}")
        stored = replica.stored
        if stored is None or not (
            effect.epoch < stored.epoch or (effect.epoch == stored.epoch and stored.has_leader())
        ):
            broken(
                "MonotonicEpoch",
                f"{replica.name} appends {effect.base_offset} of epoch {effect.epoch} after {stored!r}",
            )
        batch = self._batch(replica, effect, previous)
        log.append(batch)
        replica.note_changes(batch)
        if replica.step_request >= 0 and not batch.is_control:
            acknowledgements.appended(replica, batch.end)
        if replica.owed_commit >= 0 and log.end >= replica.owed_commit:
            self.commits.commit(replica, replica.owed_commit)

    def _batch(self, replica: CheckedReplica, effect: AppendBatch, previous: Batch | None) -> Batch:
        known = self.history.batches.get((effect.base_offset, effect.epoch))
        if known is not None:
            if known.previous is not previous or known.data != effect.batch:
                broken("LogMatching", f"{replica.name} appends another {known}, after {previous}")
            return known
        if self.leaders.get(effect.epoch) != (replica.node_id, replica.life):
            broken(
                "NoLogDivergence",
                f"{replica.name} appends {effect.base_offset} of epoch {effect.epoch}, which its leader"
                f" {self.leaders.get(effect.epoch)} did not",
            )
        end = effect.last_offset + 1
        batch = self.history.adopt(
            effect.base_offset, end, effect.epoch, effect.batch, effect.is_control, previous
        )
        if replica.epoch_start < 0:
            replica.epoch_start = effect.base_offset
        if batch.voters is not None:
            self._check_voter_change(replica, batch)
        return batch

    def _check_voter_change(self, replica: CheckedReplica, batch: Batch) -> None:
        before = None if batch.previous is None else batch.previous.voters_batch
        former, voters = self.commits.voters_of(before), batch.voters
        assert voters is not None
        voter_changes.check_directories(replica, voters)
        begins_epoch = batch.previous is None or batch.previous.epoch < batch.epoch
        if (begins_epoch and is_same(voters, former)) or (before is None and len(former) == 0):
            return
        if not majorities_overlap(former, voters):
            broken("NextVoterSetOverlaps", f"{replica.name} at {batch}: {former!r}, then {voters!r}")
        if before is not None and not self.history.is_committed(before):
            broken("AtMostOneUncommittedVoterChange", f"{replica.name} at {batch}: {before} is not committed")
        if replica.high_watermark <= replica.epoch_start:
            broken(
                "AtMostOneUncommittedVoterChange",
                f"{replica.name} at {batch}: nothing of epoch {batch.epoch} is committed yet",
            )

    def _flush(self, replica: CheckedReplica, effect: NodeEffect) -> None:
        replica.log.flush_runs = True

    def _write_quorum_state(self, replica: CheckedReplica, effect: NodeEffect) -> None:
        assert isinstance(effect, WriteQuorumState)
        state, stored = effect.state, replica.stored
        epoch = state.epoch
        if stored is not None and epoch < stored.epoch:
            broken("MonotonicEpoch", f"{replica.name} writes {state!r} after {stored!r}")
        voted = stored is not None and stored.epoch == epoch and stored.voted_id >= 0
        if stored is not None and voted and state.voted_id != stored.voted_id and not state.has_leader():
            broken("ElectionSafety", f"{replica.name} writes {state!r} after {stored!r}")
        replica.storing = effect

    def _count_election(self, replica: CheckedReplica, state: ElectionState) -> None:
        """Votes and leaders count from when they are on the disk: until then, no other node knows of them."""
        if state.voted_id >= 0:
            quorum_claims.count_vote(self.votes, replica, state.epoch, state.voted_id)
        if state.has_leader():
            leader_id = self.elected.setdefault(state.epoch, state.leader_id)
            if leader_id != state.leader_id:
                broken("SingleLeader", f"{replica.name} has {state!r}, another node the leader {leader_id}")

    def _truncate(self, replica: CheckedReplica, effect: NodeEffect) -> None:
        assert isinstance(effect, TruncateLog)
        count = replica.log.count_before(effect.end_offset)
        if count is None:
            broken("LogMatching", f"{replica.name} truncates to {effect.end_offset}, inside a batch")
        if effect.end_offset < replica.high_watermark:
            broken(
                "Durability",
                f"{replica.name} truncates to {effect.end_offset}, below its high watermark"
                f" {replica.high_watermark}",
            )
        may_cut = count == len(replica.log.batches) or self.history.is_ahead_of(replica.epoch)
        if not may_cut and self.history.is_committed(replica.log.batches[count]):
            broken("Durability", f"{replica.name} truncates the committed {replica.log.batches[count]}")
        replica.log.truncate_to(count)
        replica.forget_changes()
        replica.storing = effect

    def _load_snapshot(self, replica: CheckedReplica, effect: NodeEffect) -> None:
        if replica.active or (replica.state_name == LEADER and not isinstance(effect, ReadSnapshot)):
            broken("LeaderNeverLoadSnapshot", f"{replica.name} in epoch {replica.epoch}: {effect!r}")
        if not isinstance(effect, ReadSnapshot):
            replica.storing = effect
        if isinstance(effect, FinishSnapshot):
            replica.fetched_snapshot = effect.snapshot_id

    def _start_over(self, replica: CheckedReplica, effect: NodeEffect) -> None:
        assert isinstance(effect, StartOver)
        self._load_snapshot(replica, effect)
        snapshot_id = effect.snapshot_id
        count = self._check_snapshot_id(replica, snapshot_id)
        replica.log.replace(self.history.committed[:count])
        replica.forget_changes()
        replica.newest_snapshot = snapshot_id
        if replica.owed_commit >= 0:
            self.commits.commit(replica, replica.owed_commit)
        self.commits.check_durability()

    def _check_snapshot_id(self, replica: CheckedReplica, snapshot_id: OffsetAndEpoch) -> int:
        """A snapshot ends between two committed batches and has the epoch of the one before its end."""
        count = self.history.count_before(snapshot_id.offset)
        if count is None or count == 0:
            broken(
                "ConsistentCommittedData",
                f"{replica.name}: snapshot {snapshot_id} does not end at a committed batch"
                f" (committed: {self.history.committed_end})",
            )
        if self.history.committed[count - 1].epoch != snapshot_id.epoch:
            broken(
                "ConsistentCommittedData",
                f"{replica.name}: snapshot {snapshot_id} replaces {self.history.committed[count - 1]}",
            )
        return count

    def _write_snapshot(self, replica: CheckedReplica, effect: NodeEffect) -> None:
        assert isinstance(effect, WriteSnapshot)
        count = self._check_snapshot_id(replica, effect.snapshot_id)
        announcements.check_snapshot(replica, effect, self.history.committed[count - 1])
        self._snapshot_written(replica.name, effect.snapshot_id, replica.snapshot_parts)

    def _snapshot_created(self, replica: CheckedReplica, event: NodeEvent) -> None:
        assert isinstance(event, SnapshotCreated)
        newest = replica.newest_snapshot
        if newest is None or newest.offset < event.snapshot_id.offset:
            replica.newest_snapshot = event.snapshot_id

    def _log_start_changed(self, replica: CheckedReplica, event: NodeEvent) -> None:
        recovery_checks.check_log_start(replica)
        recovery_checks.check_epoch_before_start(replica)
        replica.log.durable_end = max(replica.log.durable_end, replica.raft.log_start_offset)

    def _note_recovered(self, replica: CheckedReplica, effect: NodeEffect) -> None:
        replica.storing = effect
        recovery_checks.check_has_recovered(self.history, replica)

    def _respond(self, replica: CheckedReplica, effect: NodeEffect) -> None:
        assert isinstance(effect, Respond)
        if effect.request_id in replica.votes_asked:
            asked = replica.votes_asked.pop(effect.request_id)
            quorum_claims.check_vote(self.votes, replica, asked, effect.response)
        elif effect.request_id in replica.asked:
            acknowledgements.check(replica, effect.request_id, effect.response, self.history.committed_end)
        elif type(effect.response) is FetchResponse:
            announcements.check(replica, effect.response, self.history.committed_end)
        if effect.request_id == replica.step_request:
            replica.step_request = -1

    def _respond_fetch(self, replica: CheckedReplica, effect: NodeEffect) -> None:
        assert isinstance(effect, RespondFetch)
        announcements.check(replica, effect.response, self.history.committed_end)

    def _halt(self, replica: CheckedReplica, effect: NodeEffect) -> None:
        assert isinstance(effect, Halt)
        if not replica.is_misled:
            broken("NoIllegalState", f"{replica.name} in epoch {replica.epoch} halts: {effect.text}")

    # Now and then.

    def checkpoint(self, processes: Iterable[ProcessView]) -> None:
        """Whole logs, as they are read from the disk."""
        self.commits.check_durability()
        for process in processes:
            replica = self.running[process.node_id]
            if replica.storing is None:
                recovery_checks.check_log_start(replica)
                recovery_checks.check_log_content(replica)
