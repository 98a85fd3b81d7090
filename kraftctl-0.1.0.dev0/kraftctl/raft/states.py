"""The six states of a replica (KIP-595, KIP-996) and the data that exists only in each of them."""

from __future__ import annotations

from typing import ClassVar, Final

from kraftctl.raft.election_state import UNKNOWN_LEADER_ID
from kraftctl.raft.epoch_election import EpochElection
from kraftctl.raft.high_watermark import UNKNOWN_OFFSET, high_watermark
from kraftctl.raft.raft_config import OBSERVER_SESSION_TIMEOUT_MS, OBSERVERS_MAX
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.replica_state import ReplicaState
from kraftctl.raft.voter_set import Endpoints, VoterSet
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.snapshot_progress import SnapshotProgress

NEVER_MS: Final = (1 << 62) - 1
"""This deadline is never reached: the largest integer that compiled code compares without a call."""

ROUND_INTERVAL_MS: Final = 4
"""A leader informs its voters of `leadership_rounds` at most once in this time."""

EARLY_RESPONSE_MS: Final = 3
"""One response in this time may come without news and without a wait: see `leadership_rounds`."""

EARLY_MS_MAX: Final = 1_000
"""So long they may come faster."""


class EpochState:
    """The data of every state. `deadline_ms` is when it times out; `timers` has what each state does then.

    A deadline is set when the state is made, and after that by the methods of the state alone.
    """

    name: ClassVar[str] = "EpochState"

    def __init__(
        self,
        epoch: int,
        *,
        leader_id: int = UNKNOWN_LEADER_ID,
        leader_endpoints: Endpoints | None = None,
        voted_key: ReplicaKey | None = None,
        deadline_ms: int = NEVER_MS,
    ) -> None:
        self.epoch = epoch
        self.leader_id = leader_id
        self.leader_endpoints: Endpoints = {} if leader_endpoints is None else leader_endpoints
        self.voted_key = voted_key
        self.deadline_ms = deadline_ms

    def has_leader(self) -> bool:
        return self.leader_id >= 0

    def elect_at(self, at_ms: int) -> None:
        """Begins an election at this time, and not before, unless something happens until then."""
        self.deadline_ms = at_ms

    def stop_waiting(self) -> None:
        """Removes the deadline: a replica that may not vote does not elect a leader."""
        self.deadline_ms = NEVER_MS

    def __repr__(self) -> str:
        vote = "none" if self.voted_key is None else str(self.voted_key)
        return f"{self.name}(epoch={self.epoch}, leader={self.leader_id}, voted={vote})"


class Unattached(EpochState):
    """The replica has no leader to follow: none, or no endpoint, is known. Voters wait an election
    timeout.
    """

    name: ClassVar[str] = "Unattached"


class SnapshotDownload(SnapshotProgress):
    """The part of a snapshot that is here; `is_complete` while the whole of it is checked."""

    def __init__(self, snapshot_id: OffsetAndEpoch) -> None:
        super().__init__(snapshot_id)
        self.is_complete = False


class Follower(EpochState):
    """The replica fetches from a known leader. `deadline_ms` is the fetch timeout of a voter, or an earlier
    election.

    `fetch_deadline_ms` is the fetch timeout alone; `update_voter_at_ms` is when it next checks what the
    leader knows of it (UpdateRaftVoter); `has_updated_leader` whether the leader has responded to that.
    """

    name: ClassVar[str] = "Follower"

    def __init__(
        self,
        epoch: int,
        *,
        leader_id: int,
        leader_endpoints: Endpoints,
        voted_key: ReplicaKey | None,
        deadline_ms: int,
        update_voter_at_ms: int,
    ) -> None:
        super().__init__(
            epoch,
            leader_id=leader_id,
            leader_endpoints=leader_endpoints,
            voted_key=voted_key,
            deadline_ms=deadline_ms,
        )
        self.update_voter_at_ms = update_voter_at_ms
        self.has_updated_leader = False
        self.has_reached_leader = False
        self.fetch_deadline_ms = deadline_ms
        self.has_fetched_from_leader = False
        self.leader_has_resigned = False
        self.leader_refuses = False
        """Whether its address has refused a connection since its last response."""
        self.leader_is_silent = False
        """Whether the fetch timeout is over, of a voter that puts its election off."""
        self.last_response_ms = 0
        self._reached_ms = -NEVER_MS
        self.leader_high_watermark = UNKNOWN_OFFSET
        """The high watermark of the last response that continued this log."""
        self.download: SnapshotDownload | None = None
        self.has_appended = False
        """Whether records of this leader are in the log: from then on it begins like the leader's."""
        self._useless_responses = 0
        self._early_until_ms = 0
        self.retry_at_ms = 0

    def is_leader_gone(self) -> bool:
        """Returns whether there is a reason not to wait for the fetch timeout."""
        return self.leader_has_resigned or self.leader_refuses or self.leader_is_silent

    def restart_fetch_timer(self, deadline_ms: int) -> None:
        """Restarts the timer, unless the leader has resigned: its response may have been overtaken."""
        self.fetch_deadline_ms = deadline_ms
        if not self.leader_has_resigned:
            self.deadline_ms = deadline_ms

    def leader_resigned(self, election_at_ms: int) -> None:
        """Ends the wait for the fetch timeout: the leader itself has ended its epoch."""
        self.leader_has_resigned = True
        self.deadline_ms = election_at_ms

    def leader_refused(self, election_at_ms: int) -> None:
        """Ends the wait for the fetch timeout: no process listens where the leader did."""
        self.leader_refuses = True
        self.deadline_ms = min(self.deadline_ms, election_at_ms)

    def leader_fell_silent(self) -> None:
        """Notes that it does not answer within a fetch timeout: others may be elected."""
        self.leader_is_silent = True

    def has_early_election(self) -> bool:
        """Returns whether `deadline_ms` is an election before the fetch timeout."""
        return self.deadline_ms < self.fetch_deadline_ms

    def early_election_lost(self) -> None:
        """Waits for the fetch timeout again, as before the lost election."""
        self.deadline_ms = self.fetch_deadline_ms

    def leader_answered(self, now_ms: int, deadline_ms: int) -> None:
        self.has_fetched_from_leader = True
        self.leader_refuses = self.leader_is_silent = False
        self.last_response_ms = now_ms
        self.restart_fetch_timer(deadline_ms)

    def leader_reached(self, now_ms: int) -> None:
        """Notes that the leader was reached at `leader_endpoints`: they are right in this epoch."""
        self.has_reached_leader = True
        self._reached_ms = now_ms

    def has_reached_leader_since(self, at_ms: int) -> bool:
        return self._reached_ms > at_ms

    def find_leader_at(self, endpoints: Endpoints) -> None:
        """Takes new endpoints when the former ones, perhaps of an older voter set, do not respond.

        A response names one listener alone: with fewer than before, the next BeginQuorumEpoch would make a
        new state.
        """
        assert not self.has_reached_leader
        self.leader_endpoints = {**self.leader_endpoints, **endpoints}

    def consider_update_at(self, at_ms: int) -> None:
        self.update_voter_at_ms = at_ms

    def leader_is_updated(self) -> None:
        self.has_updated_leader = True

    def response_was_usable(self) -> None:
        self._useless_responses = 0
        self.retry_at_ms = 0

    def pause_fetching(self, until_ms: int) -> None:
        """Pauses the fetches, as the leader asked."""
        self.retry_at_ms = max(self.retry_at_ms, until_ms)

    def response_was_early(self, now_ms: int, *, was_early: bool) -> None:
        """Takes whether a response without news came before the wait that was asked for; pauses the fetches
        where such responses are too many for too long.
        """
        if was_early:
            self._early_until_ms = max(self._early_until_ms, now_ms) + EARLY_RESPONSE_MS
            self.pause_fetching(self._early_until_ms - EARLY_MS_MAX)

    def response_was_useless(self, now_ms: int, *, backoff_ms: int, backoff_ms_max: int) -> None:
        """Pauses after an unusable response; the pause doubles until one is usable."""
        pause_ms = min(backoff_ms << self._useless_responses, backoff_ms_max)
        self._useless_responses = min(self._useless_responses + 1, 16)
        self.retry_at_ms = now_ms + pause_ms


class Prospective(EpochState):
    """KIP-996: the replica asks for pre-votes before it raises the epoch.

    `interrupted` is the follower that did not wait for its fetch timeout, and waits for it when this is
    lost.
    """

    name: ClassVar[str] = "Prospective"

    def __init__(
        self,
        epoch: int,
        *,
        leader_id: int,
        leader_endpoints: Endpoints,
        voted_key: ReplicaKey | None,
        deadline_ms: int,
        election: EpochElection,
        interrupted: Follower | None = None,
    ) -> None:
        super().__init__(
            epoch,
            leader_id=leader_id,
            leader_endpoints=leader_endpoints,
            voted_key=voted_key,
            deadline_ms=deadline_ms,
        )
        self.election = election
        self.interrupted = interrupted

    def is_hint_only(self) -> bool:
        """Returns whether the only reason for an election is that the leader refuses connections."""
        return self.interrupted is not None and not self.interrupted.leader_has_resigned


class Candidate(EpochState):
    """The replica asks for votes in a new epoch. Its vote for itself is on disk."""

    name: ClassVar[str] = "Candidate"

    def __init__(
        self, epoch: int, *, voted_key: ReplicaKey, deadline_ms: int, election: EpochElection
    ) -> None:
        super().__init__(epoch, voted_key=voted_key, deadline_ms=deadline_ms)
        self.election = election


class Resigned(EpochState):
    """The replica led this epoch and never will again; it sends EndQuorumEpoch until all voters know or
    elect.
    """

    name: ClassVar[str] = "Resigned"

    def __init__(
        self,
        epoch: int,
        *,
        leader_id: int,
        leader_endpoints: Endpoints,
        deadline_ms: int,
        unacked_voter_ids: list[int],
        preferred_successors: list[ReplicaKey],
    ) -> None:
        super().__init__(
            epoch, leader_id=leader_id, leader_endpoints=leader_endpoints, deadline_ms=deadline_ms
        )
        self.unacked_voter_ids = unacked_voter_ids
        self.preferred_successors = preferred_successors
        self.has_successors = bool(unacked_voter_ids)

    def acked_by(self, voter_id: int) -> None:
        """Notes that this voter knows. Repeated responses are ignored."""
        if voter_id in self.unacked_voter_ids:
            self.unacked_voter_ids.remove(voter_id)

    def wait_for_election(self, until_ms: int) -> None:
        """Waits for the election of voters that all know: they need this vote where a follower refuses
        pre-votes (KIP-996).
        """
        self.deadline_ms = min(self.deadline_ms, until_ms)


class Leader(EpochState):
    """The replica appends, and knows how far others have fetched. `deadline_ms` is that of check-quorum
    (KAFKA-15489).

    `high_watermark` is exclusive and unknown until a record of this very epoch is committed: only then are
    all records of earlier epochs committed (KAFKA-12619).

    `volatile_voters` matter with kraft.version 0 alone, where the log has no voters: those of the
    configuration, with what this leader and, since it leads, the others said about themselves.
    """

    name: ClassVar[str] = "Leader"

    def __init__(
        self,
        epoch: int,
        *,
        local_key: ReplicaKey,
        leader_endpoints: Endpoints,
        epoch_start_offset: int,
        voters: VoterSet,
        granting_voter_ids: list[int],
        deadline_ms: int,
    ) -> None:
        super().__init__(
            epoch, leader_id=local_key.id, leader_endpoints=leader_endpoints, deadline_ms=deadline_ms
        )
        self.local_key = local_key
        self.epoch_start_offset = epoch_start_offset
        self.granting_voter_ids = granting_voter_ids
        self.high_watermark = UNKNOWN_OFFSET
        self.voter_states: dict[int, ReplicaState] = {}
        self.observer_states: dict[ReplicaKey, ReplicaState] = {}
        self._fetched_voter_ids: set[int] = set()
        self.local_end_offset = UNKNOWN_OFFSET
        self.begin_quorum_deadline_ms = NEVER_MS
        self.observers_due_ms = NEVER_MS
        """The time of the next response to observers' fetches, because more is committed."""
        self.asked_round = 0
        """The newest of the `leadership_rounds` that is asked for."""
        self.confirmed_round = 0
        self.may_inform_at_ms = 0
        """The time from which voters may be informed of `asked_round`."""
        self.round_due_ms = NEVER_MS
        """The time at which those whose Fetch waits are."""
        self._informed_round = 0
        self.is_only_voter = False
        """Whether no one else has to be asked, or to fetch, for a majority."""
        self.volatile_voters = voters
        self.set_voters(voters)

    def has_majority_fetched(self, key: ReplicaKey) -> bool:
        """Returns whether with this Fetch of `key` a majority has fetched since the last restart.

        A leader outside of the voter set needs a majority without itself.
        """
        self._fetched_voter_ids.add(key.id)
        majority = len(self.voter_states) // 2 + 1
        if self.is_voter(self.local_key):
            majority -= 1
        return len(self._fetched_voter_ids) >= majority

    def restart_check_quorum(self, deadline_ms: int) -> None:
        """Restarts the check: a majority of the voters must fetch again before `deadline_ms`."""
        self._fetched_voter_ids.clear()
        self.deadline_ms = deadline_ms

    def send_begin_quorum_epoch_at(self, at_ms: int) -> None:
        self.begin_quorum_deadline_ms = at_ms

    def ask_round(self, now_ms: int) -> int:
        """Returns the round that begins now: one that no voter was informed of yet."""
        if self.asked_round == self._informed_round:
            self.asked_round += 1
            self.may_inform_at_ms = self.round_due_ms = max(now_ms, self.may_inform_at_ms + ROUND_INTERVAL_MS)
        return self.asked_round

    def inform(self, voter_id: int, connection_id: int) -> None:
        """Notes that a response to this voter leaves now."""
        self._informed_round = self.asked_round
        voter = self.voter_states[voter_id]
        voter.informed_round = self.asked_round
        voter.informed_connection_id = connection_id

    def wake_observers_at(self, at_ms: int) -> None:
        """Wakes observers at this time, or earlier if that is due before."""
        self.observers_due_ms = min(self.observers_due_ms, at_ms)

    def observers_are_awake(self) -> None:
        self.observers_due_ms = NEVER_MS

    def set_voters(self, voters: VoterSet) -> None:
        """Keeps the state of replicas that start or stop voting."""
        former = self.voter_states
        self.voter_states = {}
        for node in voters.nodes.values():
            state = former.get(node.key.id)
            if state is None or not state.matches(node.key):
                state = self.observer_states.pop(node.key, None) or ReplicaState(node.key, node.endpoints)
            state.key = node.key
            state.endpoints = node.endpoints
            self.voter_states[node.key.id] = state
        for voter_id, state in former.items():
            if self.voter_states.get(voter_id) is not state:
                state.endpoints = {}
                self.observer_states[state.key] = state
        local = self.voter_states.get(self.local_key.id)
        is_voter = local is not None and local.matches(self.local_key)
        self.is_only_voter = is_voter and len(self.voter_states) == 1
        if local is not None and is_voter:
            local.has_acknowledged_leader = True
            local.end_offset = self.local_end_offset

    def remember_voters(self, voters: VoterSet) -> None:
        """Takes what the voters have said about themselves, with kraft.version 0, for as long as this
        leads.
        """
        self.volatile_voters = voters

    def is_voter(self, key: ReplicaKey) -> bool:
        state = self.voter_states.get(key.id)
        return state is not None and state.matches(key)

    def replica(self, key: ReplicaKey, now_ms: int) -> ReplicaState:
        """Returns the state of a voter, else of an observer, which is added if it is new."""
        state = self.voter_states.get(key.id)
        if state is not None and state.matches(key):
            return state
        # The one that fetched last is the last of the dict, so the longest silent one is the first.
        state = self.observer_states.pop(key, None)
        if state is None:
            if len(self.observer_states) >= OBSERVERS_MAX:
                del self.observer_states[next(iter(self.observer_states))]
            state = ReplicaState(key, {})
            state.last_fetch_ms = state.known_since_ms = now_ms
        self.observer_states[key] = state
        return state

    def forget_silent_observers(self, now_ms: int) -> None:
        self.observer_states = {
            key: state
            for key, state in self.observer_states.items()
            if now_ms - state.last_heard_ms < OBSERVER_SESSION_TIMEOUT_MS
        }

    def update_local_end_offset(self, flushed_offset: int) -> None:
        """Updates the leader's own part in the high watermark: what is flushed, never what is only
        written.
        """
        assert flushed_offset >= self.local_end_offset
        self.local_end_offset = flushed_offset
        state = self.voter_states.get(self.local_key.id)
        if state is not None and state.matches(self.local_key):
            state.end_offset = flushed_offset

    def advance_high_watermark(self) -> bool:
        """Returns whether more is committed than before. Voter changes may compute less: that is ignored."""
        offset = high_watermark([state.end_offset for state in self.voter_states.values()])
        if offset <= self.epoch_start_offset or offset <= self.high_watermark:
            return False
        self.high_watermark = offset
        return True

    def voters_by_end_offset(self) -> list[ReplicaKey]:
        """Returns the other voters, the best successor first."""
        others = [
            (-state.end_offset, voter_id)
            for voter_id, state in self.voter_states.items()
            if not state.matches(self.local_key)
        ]
        return [self.voter_states[voter_id].key for _, voter_id in sorted(others)]
