"""One replica of the metadata quorum as a function from events to effects (KIP-595, KIP-853)."""

from __future__ import annotations

import random
from typing import assert_never

from kraftctl.raft.append import append_records, log_flushed
from kraftctl.raft.core import RaftCore
from kraftctl.raft.download_snapshot import snapshot_downloaded
from kraftctl.raft.effects import RaftEffect
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.elections import resign, start
from kraftctl.raft.events import (
    DeadlineReached,
    LoadingChanged,
    LogFlushed,
    LogStartChanged,
    RaftEvent,
    RequestCancelled,
    RequestReceived,
    ResignRequested,
    ResponseReceived,
    ShutdownRequested,
    SnapshotCreated,
    SnapshotDownloaded,
    Started,
)
from kraftctl.raft.handle_responses import handle_response
from kraftctl.raft.kraft_version_upgrade import upgrade, why_not_upgraded
from kraftctl.raft.leadership_rounds import ask_round, settle_rounds
from kraftctl.raft.loading_voter import hand_over, loading_changed
from kraftctl.raft.log_state import LogState, SnapshotInfo
from kraftctl.raft.peer_reports import PeerReport
from kraftctl.raft.peer_requests import send_requests
from kraftctl.raft.progress import grace_ms, why_no_progress
from kraftctl.raft.progress_reasons import no_vote_reason
from kraftctl.raft.progress_states import RECOVERING_VOTER
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.raft_figures import RaftFigures
from kraftctl.raft.recovery import end_recovery_if_caught_up
from kraftctl.raft.request_handlers import handle_request
from kraftctl.raft.respond_fetch import redirect_trimmed_fetches, wake_observers_if_due
from kraftctl.raft.states import NEVER_MS, Leader, Resigned
from kraftctl.raft.timers import next_deadline_ms, run_timers
from kraftctl.raft.voter_change import settle_change
from kraftctl.raft.voter_history import VoterHistory
from kraftctl.raft.voter_set import Endpoints, VoterSet
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch


class RaftNode:
    """A replica. `static_voters` is empty in a dynamic quorum; `voter_history` and `kraft_version_history`
    list (offset, value) of every KRaftVoters / KRaftVersion control record found in the newest snapshot and
    in the log, rising. What came from a snapshot carries its end offset - 1: -1 for 0-0.

    `recovering_epoch` is not None when log or votes of this replica are lost: the highest epoch it may have
    voted in. It does not vote until it has all that a leader of that epoch or a later one committed.

    `stored_committed_end`: up to here (exclusive) the log was known to be committed before the start.

    Every call returns effects, to be carried out in order before the next call.
    """

    def __init__(
        self,
        *,
        node_id: int,
        directory_id: bytes,
        cluster_id: str,
        endpoints: Endpoints,
        config: RaftConfig,
        rng: random.Random,
        log: LogState,
        quorum_state: ElectionState | None,
        static_voters: VoterSet,
        voter_history: list[tuple[int, VoterSet]],
        kraft_version_history: list[tuple[int, int]],
        recovering_epoch: int | None = None,
        stored_committed_end: int = 0,
    ) -> None:
        self._core = RaftCore(
            node_id=node_id,
            directory_id=directory_id,
            cluster_id=cluster_id,
            endpoints=endpoints,
            config=config,
            rng=rng,
            log=log,
            stored_election=quorum_state,
            history=VoterHistory(
                static_voters,
                voter_history,
                kraft_version_history,
                begins_at=log.snapshots[-1].snapshot_id.offset if log.snapshots else 0,
            ),
            recovering_epoch=recovering_epoch,
            stored_committed_end=stored_committed_end,
        )

    def step(self, event: RaftEvent, now_ms: int, wall_ms: int) -> list[RaftEffect]:
        """Returns what must be done, in order, after `event` at `now_ms`. Only deadlines end timeouts."""
        core = self._core
        core.begin_step(now_ms, wall_ms)
        self._handle(event)
        end_recovery_if_caught_up(core)
        is_deadline = isinstance(event, DeadlineReached)
        if is_deadline:
            run_timers(core)
        settle_change(core, may_time_out=is_deadline)
        if core.loading.is_loading:
            hand_over(core)
        send_requests(core)
        settle_rounds(core)
        wake_observers_if_due(core)
        return core.take_effects()

    def append(self, values: list[bytes], now_ms: int, wall_ms: int) -> tuple[int, list[RaftEffect]]:
        """Append encoded metadata records as one batch; leader only. Returns the base offset."""
        core = self._core
        core.begin_step(now_ms, wall_ms)
        leader = core.leader()
        assert leader is not None, "only a leader appends"
        base_offset = append_records(core, leader, values)
        return base_offset, core.take_effects()

    def confirm_leadership(self, now_ms: int, wall_ms: int) -> tuple[int, list[RaftEffect]]:
        """Asks the voters whether this node leads now; only if it `leads_others`. Returns the round that
        `LeadershipConfirmed` will name.
        """
        core = self._core
        core.begin_step(now_ms, wall_ms)
        leader = core.leader()
        assert leader is not None, "only a leader has voters to ask"
        asked = ask_round(core, leader)
        return asked, core.take_effects()

    def why_kraft_version_not_upgraded(self, level: int) -> str | None:
        """Returns why the voters cannot run `level`, which is above the present one; None if they can."""
        return why_not_upgraded(self._core, level)

    def upgrade_kraft_version(self, level: int, now_ms: int, wall_ms: int) -> list[RaftEffect]:
        """Appends the level and the voters; leader only, and when nothing prevents it."""
        core = self._core
        core.begin_step(now_ms, wall_ms)
        leader = core.leader()
        assert leader is not None, "only a leader appends"
        upgrade(core, leader, level)
        return core.take_effects()

    def why_no_progress(self, now_ms: int) -> str | None:
        """Returns why this replica neither leads nor follows for longer than an election takes."""
        return why_no_progress(self._core, now_ms)

    def why_no_vote(self) -> str | None:
        """Returns why this replica is no voter, or does not vote yet; None if it does."""
        found = no_vote_reason(self._core)
        if found is not None:
            return found.line
        return None if self._core.recovering_epoch is None else RECOVERING_VOTER

    def figures(self, now_ms: int) -> RaftFigures:
        """Returns the figures of metrics."""
        return RaftFigures(self._core, now_ms)

    def peer_reports(self) -> list[PeerReport]:
        """Returns the result of the latest request to each address of another controller."""
        return self._core.peers.reports.all()

    def take_latencies(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Returns count, sum and maximum in ms of commits and of elections since the last call."""
        return self._core.commit_latency.take(), self._core.election_latency.take()

    @property
    def grace_ms(self) -> int:
        """How long an election, or the restart of another controller, may take."""
        return grace_ms(self._core)

    def take_send_id(self) -> int:
        """Returns an id for a `SendRequest` that is not raft's own; its response must not be given to
        `step`.
        """
        return self._core.peers.take_send_id()

    @property
    def next_deadline_ms(self) -> int | None:
        """Returns when to report `DeadlineReached`; None for never."""
        deadline_ms = next_deadline_ms(self._core)
        return None if deadline_ms >= NEVER_MS else deadline_ms

    @property
    def node_id(self) -> int:
        return self._core.key.id

    @property
    def epoch(self) -> int:
        return self._core.state.epoch

    @property
    def leader_id(self) -> int:
        """The id of the leader, -1 while unknown."""
        return self._core.state.leader_id

    @property
    def is_leader(self) -> bool:
        return self._core.leader() is not None

    @property
    def leads_others(self) -> bool:
        """Whether this node leads, and another voter may have elected someone else since."""
        state = self._core.state
        return isinstance(state, Leader) and not state.is_only_voter

    @property
    def state_name(self) -> str:
        """The state by its name in Kafka: Unattached, Follower, Prospective, Candidate, Leader, Resigned."""
        return self._core.state.name

    @property
    def may_stop(self) -> bool:
        """Returns, after `ShutdownRequested`, whether the next epoch has begun, if this node led others.

        It begins at the latest an election timeout after all other voters know that they have to elect.
        """
        state = self._core.state
        if not self._core.shutting_down or self.is_leader:
            return False
        return not isinstance(state, Resigned) or not state.has_successors

    @property
    def high_watermark(self) -> int:
        """The end of what is committed, exclusive; -1 until known in this run."""
        return self._core.high_watermark

    @property
    def end_offset(self) -> int:
        return self._core.log.end_offset

    @property
    def log_start_offset(self) -> int:
        """The first offset of the log; earlier records are in a snapshot."""
        return self._core.log.start_offset

    @property
    def latest_snapshot_id(self) -> OffsetAndEpoch | None:
        snapshots = self._core.log.snapshots
        return snapshots[-1].snapshot_id if snapshots else None

    @property
    def latest_snapshot_bytes(self) -> int:
        """The size of its file in bytes; 0 without a snapshot."""
        snapshots = self._core.log.snapshots
        return snapshots[-1].size_bytes if snapshots else 0

    @property
    def kraft_version(self) -> int:
        return self._core.history.kraft_version()

    @property
    def voter_set(self) -> VoterSet:
        return self._core.voters

    @property
    def voters_offset(self) -> int:
        """The offset of the last record of the voters in the log; -1 without one."""
        return self._core.history.last_offset()

    def epoch_at(self, offset: int) -> int | None:
        """Returns the epoch of the record at `offset`; None when it is in a snapshot only."""
        return self._core.log.epochs.epoch_at(offset)

    def kraft_version_at(self, offset: int) -> int:
        """Returns the level according to everything below `offset` (exclusive), like `voters_at`."""
        return self._core.history.kraft_version_at(offset)

    def voters_at(self, offset: int) -> VoterSet:
        """Returns the voters according to everything below `offset` (exclusive), as a snapshot there
        must say.
        """
        return self._core.history.voters_at(offset)

    @property
    def leader_address(self) -> tuple[str, int] | None:
        """Returns where other controllers reach the leader, when known."""
        return self.leader_endpoint(self._core.default_listener())

    def leader_endpoint(self, listener_name: str) -> tuple[str, int] | None:
        """Returns where the leader listens under this listener name, when known."""
        return self._core.state.leader_endpoints.get(listener_name)

    def _handle(self, event: RaftEvent) -> None:
        core = self._core
        if isinstance(event, RequestReceived):
            handle_request(core, event)
        elif isinstance(event, LogFlushed):
            log_flushed(core, event.end_offset)
        elif isinstance(event, DeadlineReached):
            pass
        elif isinstance(event, RequestCancelled):
            core.parked.remove(event.request_id)
        elif isinstance(event, ResponseReceived):
            handle_response(core, event)
        elif isinstance(event, SnapshotCreated):
            if event.snapshot_id.offset >= core.log.start_offset:
                core.log.add_snapshot(SnapshotInfo(event.snapshot_id, event.size_bytes))
        elif isinstance(event, SnapshotDownloaded):
            snapshot_downloaded(core, event)
        elif isinstance(event, LogStartChanged):
            core.log.start_at(event.start_offset)
            core.log.remove_snapshots(event.deleted)
            core.history.start_at(core.log.start_offset)
            redirect_trimmed_fetches(core)
        elif isinstance(event, LoadingChanged):
            loading_changed(core, event.is_loading)
        elif isinstance(event, ResignRequested):
            if core.leader() is not None and core.state.epoch == event.epoch:
                resign(core)
        elif isinstance(event, ShutdownRequested):
            core.shut_down()
            if core.leader() is not None:
                resign(core)
        elif isinstance(event, Started):
            start(core)
        else:
            assert_never(event)
