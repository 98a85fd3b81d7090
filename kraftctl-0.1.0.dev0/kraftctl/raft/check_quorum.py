"""KAFKA-15489: a leader resigns when a majority no longer fetches from it, or there would be two leaders."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.raft_config import CHECK_QUORUM_TIMEOUT_FACTOR
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.silent_voters import voter_fetched
from kraftctl.raft.states import NEVER_MS, Leader


def check_quorum_deadline_ms(core: RaftCore) -> int:
    """Returns the deadline; none for the only voter, unless it is a leader that removed itself."""
    if core.is_only_voter():
        return NEVER_MS
    return core.now_ms + int(core.config.fetch_timeout_ms * CHECK_QUORUM_TIMEOUT_FACTOR)


def note_fetch_of_voter(core: RaftCore, leader: Leader, key: ReplicaKey) -> None:
    """Counts what `key` has requested towards check-quorum. The leader itself is in the majority already."""
    if key.id == core.key.id or not leader.is_voter(key):
        return
    voter_fetched(core, leader.voter_states[key.id])
    if leader.has_majority_fetched(key):
        leader.restart_check_quorum(check_quorum_deadline_ms(core))
