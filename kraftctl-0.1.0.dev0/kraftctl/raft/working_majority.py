"""KIP-853: a change of the voters has to leave a majority that works, or nothing is committed any more.

A voter works if it has fetched, within the last fetch timeout, all that the log of this leader had then. The
leader works. A change is refused if those that work would be no majority of the new voters:

* a voter that works is removed while others are missing. One that is missing can be removed at any time;
* a voter is added that does not fetch, or lags, while others are missing, or there is one other only.

An update (UpdateRaftVoter) changes no majority. Kafka's leaders refuse nothing of this.
"""

from __future__ import annotations

from typing import Final

from kraftctl.raft.core import RaftCore
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.replica_state import ReplicaState
from kraftctl.raft.states import Leader
from kraftctl.raft.voter_set import VoterSet

START_THEM: Final = (
    "Next step: start the missing ones, or first remove those that will not return; repeat this when"
    " kafka-metadata-quorum describe --replication shows a Lag of 0"
)


def why_no_majority(core: RaftCore, voters: VoterSet) -> str | None:
    """Returns why those of `voters` that work are no majority; None if they are. This node leads."""
    leader = core.leader()
    assert leader is not None
    within_ms = core.config.fetch_timeout_ms
    missing = missing_voters(leader, voters, now_ms=core.now_ms, within_ms=within_ms)
    needed = len(voters) // 2 + 1
    working = len(voters) - len(missing)
    if working >= needed:
        return None
    names = ", ".join(str(node.key) for node in voters.nodes.values())
    missed = ", ".join(f"{key} ({_state(core, leader, key)})" for key in missing)
    return (
        f"Of the voters {names} that there would be, {needed} are needed, but in the last {within_ms} ms only"
        f" {working} had everything: the quorum would stop. Missing: {missed}"
    )


def missing_voters(leader: Leader, voters: VoterSet, *, now_ms: int, within_ms: int) -> list[ReplicaKey]:
    """Returns those of `voters`, present or future ones, that do not work."""
    return [
        node.key
        for node in voters.nodes.values()
        if node.key != leader.local_key
        and not _is_caught_up(_replica(leader, node.key), now_ms=now_ms, within_ms=within_ms)
    ]


def _is_caught_up(replica: ReplicaState | None, *, now_ms: int, within_ms: int) -> bool:
    return replica is not None and replica.caught_up_ms >= 0 and now_ms - replica.caught_up_ms < within_ms


def _replica(leader: Leader, key: ReplicaKey) -> ReplicaState | None:
    """Returns the state of a voter, or of the observer that would be one."""
    voter = leader.voter_states.get(key.id)
    return leader.observer_states.get(key) if voter is None else voter


def _state(core: RaftCore, leader: Leader, key: ReplicaKey) -> str:
    """Returns for how long it is silent, and how far it is behind."""
    replica = _replica(leader, key)
    heard_ms = -1 if replica is None else replica.last_heard_ms
    if replica is None or heard_ms < 0:
        return f"silent since epoch {leader.epoch} began"
    lag = core.log.end_offset - max(replica.end_offset, 0)
    return f"silent for {(core.now_ms - heard_ms) / 1000:.1f} s, {lag} records behind"
