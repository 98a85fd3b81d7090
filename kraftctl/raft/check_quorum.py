"""KAFKA-15489: a leader that a majority no longer fetches from must stop leading, or there are two."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.raft_config import CHECK_QUORUM_TIMEOUT_FACTOR
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.states import NEVER_MS, Leader


def check_quorum_deadline_ms(core: RaftCore) -> int:
    """The only voter is its own majority for ever. A leader that left one other voter behind is not it."""
    if core.is_only_voter():
        return NEVER_MS
    return core.now_ms + int(core.config.fetch_timeout_ms * CHECK_QUORUM_TIMEOUT_FACTOR)


def note_fetch_of_voter(core: RaftCore, leader: Leader, key: ReplicaKey) -> None:
    """Fetch and FetchSnapshot count."""
    if leader.is_voter(key) and leader.has_majority_fetched(key):
        leader.restart_check_quorum(check_quorum_deadline_ms(core))
