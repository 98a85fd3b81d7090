"""The figures of Kafka's raft-metrics, and how far each replica lags, for those who ask outside of a step."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey
from kraftctl.raft.states import Candidate, Follower, Leader, Prospective, Unattached


class ReplicaFigures:
    """One other replica as its leader knows it. `lag` and times are -1 before its first fetch in this epoch.

    `behind_ms` and `last_fetch_ms` are ages, `caught_up_ms` is a time. `behind_ms` is always known: a voter
    that had nothing in this epoch lacks its records at least since the leader was elected, an observer since
    its first fetch. A slice of a snapshot counts for `last_fetch_ms`, too.
    """

    def __init__(
        self,
        key: ReplicaKey,
        *,
        is_voter: bool,
        lag: int,
        behind_ms: int,
        last_fetch_ms: int,
        caught_up_ms: int,
    ) -> None:
        self.key = key
        self.is_voter = is_voter
        self.lag = lag
        self.behind_ms = behind_ms
        self.last_fetch_ms = last_fetch_ms
        self.caught_up_ms = caught_up_ms


class RaftFigures:
    """The figures now. `replicas`, `observers_count` and `is_changing_voters` are those of a leader."""

    def __init__(self, core: RaftCore, now_ms: int) -> None:
        state, leader = core.state, core.leader()
        self.state = _state_name(core)
        self.leader_id = state.leader_id
        self.epoch = state.epoch
        voted = core.key if isinstance(state, (Leader, Candidate)) else state.voted_key
        self.voted_id = -1 if voted is None else voted.id
        self.voted_directory_id = NO_DIRECTORY_ID if voted is None else voted.directory_id
        self.high_watermark = core.high_watermark
        self.start_offset = core.log.start_offset
        self.end_offset = core.log.end_offset
        self.end_epoch = core.log.last_epoch()
        self.voters_count = len(core.voters)
        self.unknown_voters_count = _unknown_voters_count(core)
        self.reached_voters_count = _reached_voters_count(core, now_ms)
        self.observers_count = 0 if leader is None else len(leader.observer_states)
        self.is_changing_voters = core.voter_change is not None
        self.replicas = [] if leader is None else _replicas(core, leader, now_ms)


def _state_name(core: RaftCore) -> str:
    """Returns the state as Kafka's metric current-state spells it."""
    state = core.state
    has_voted = state.voted_key is not None
    if isinstance(state, Leader):
        return "leader"
    if isinstance(state, Candidate):
        return "candidate"
    if isinstance(state, Prospective):
        return "prospective-voted" if has_voted else "prospective"
    if isinstance(state, Follower):
        return "follower" if core.is_voter() else "observer"
    return "unattached-voted" if isinstance(state, Unattached) and has_voted else "unattached"


def _unknown_voters_count(core: RaftCore) -> int:
    """Returns how many voters have no known address."""
    count = 0
    for voter_id in core.voters.voter_ids():
        if core.default_listener() not in core.voters.endpoints(voter_id):
            count += 1
    return count


def _reached_voters_count(core: RaftCore, now_ms: int) -> int:
    """Returns how many voters respond, with this one if it is one: on a leader, those that fetch from it."""
    leader = core.leader()
    count = 1 if core.is_voter() else 0
    for voter_id in core.voters.voter_ids():
        if voter_id == core.key.id:
            continue
        if leader is not None:
            voter = leader.voter_states.get(voter_id)
            heard_ms = -1 if voter is None else voter.last_heard_ms
            if heard_ms >= 0 and now_ms - heard_ms < core.config.fetch_timeout_ms:
                count += 1
        else:
            endpoint = core.voters.endpoints(voter_id).get(core.default_listener())
            if endpoint is None:
                continue
            if core.peers.reports.look_up(voter_id, endpoint[0], endpoint[1]).is_reached:
                count += 1
    return count


def _replicas(core: RaftCore, leader: Leader, now_ms: int) -> list[ReplicaFigures]:
    figures: list[ReplicaFigures] = []
    states = [(state, True) for state in leader.voter_states.values()]
    states += [(state, False) for state in leader.observer_states.values()]
    for state, is_voter in states:
        if state.matches(core.key):
            continue
        has_fetched = state.end_offset >= 0
        lag = max(core.log.end_offset - state.end_offset, 0) if has_fetched else -1
        since_ms = max(state.caught_up_ms, state.known_since_ms, core.voter_watch.began_ms)
        behind_ms = 0 if lag == 0 else now_ms - since_ms
        last_fetch_ms = -1 if state.last_heard_ms < 0 else now_ms - state.last_heard_ms
        figures.append(
            ReplicaFigures(
                state.key,
                is_voter=is_voter,
                lag=lag,
                behind_ms=behind_ms,
                last_fetch_ms=last_fetch_ms,
                caught_up_ms=state.caught_up_ms,
            )
        )
    return figures
