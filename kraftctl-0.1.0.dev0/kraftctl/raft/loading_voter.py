"""A voter that is loading the metadata lets others be elected: it could not be active before it has loaded.

This is for a voter that has followed a leader since its start: one that was restarted, or whose disk was
replaced. Others have loaded, then. Where all start together, none of this applies.

1. It begins no election for one fetch timeout, and votes for others meanwhile.
2. If it leads before it has loaded, it resigns when another voter has everything, and names it as its
   successor (EndQuorumEpoch): once, since that one may be loading, too.

Kafka's voters are elected by their logs alone.
"""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO
from kraftctl.raft.elections import resign
from kraftctl.raft.states import Follower, Unattached
from kraftctl.raft.working_majority import missing_voters


def loading_changed(core: RaftCore, is_loading: bool) -> None:
    """Notes that the node begins to load, or has loaded: an election that was put off for that is due now."""
    state = core.state
    was_put_off = state.deadline_ms == core.loading.put_off_until_ms
    core.loading.changed(is_loading)
    if not is_loading and was_put_off and isinstance(state, Follower | Unattached):
        state.elect_at(core.now_ms)


def lets_others_go_first(core: RaftCore) -> bool:
    """Returns whether the election that is due has been put off. Until then this voter grants pre-votes."""
    state = core.state
    if not core.loading.prefers_others() or core.is_only_voter():
        return False
    if not isinstance(state, Follower | Unattached):
        return False
    until_ms = core.loading.put_off(core.now_ms + core.config.fetch_timeout_ms)
    if until_ms <= core.now_ms:
        return False
    if isinstance(state, Follower) and not state.is_leader_gone():
        state.leader_fell_silent()
    state.elect_at(until_ms)
    text = f"No election within {until_ms - core.now_ms} ms: this node is loading the metadata"
    core.limited_notice("loading", INFO, text)
    return True


def hand_over(core: RaftCore) -> None:
    """Resigns if this leader is loading, and another voter has everything."""
    leader = core.leader()
    if leader is None or core.shutting_down or not core.loading.wants_to_hand_over():
        return
    within_ms = core.config.fetch_timeout_ms
    missing = missing_voters(leader, core.voters, now_ms=core.now_ms, within_ms=within_ms)
    others = [node.key for node in core.voters.nodes.values() if node.key != core.key]
    if len(missing) == len(others):
        return
    core.loading.handed_over()
    text = "this node is loading the metadata, and another voter has everything"
    core.notice(INFO, f"Resigning from epoch {leader.epoch}: {text}")
    resign(core)
