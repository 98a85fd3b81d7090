"""A leader learns that it leads still, after a given moment: rounds of contact with a majority of the voters.

A request to the active controller asks for a round and is answered when the round is confirmed: no later
leader was elected before the request came. It is Raft's ReadIndex for voters that pull:

1. The leader responds to each voter whose Fetch waits, and to the next one of the others, although there is
   nothing new: at most once in ROUND_INTERVAL_MS.
2. The next Fetch on the connection of that response counts: a replica sends it after the response, and
   knows of no later epoch then, as it drops what waited for its turn (`SendRequest.is_outdated`). A Fetch on
   another connection may have been on its way for long, and proves nothing. Kafka's voters drop nothing:
   one that connects slowly and votes in a later epoch meanwhile may still send a Fetch of the former one.
3. Who asks while no voter was informed of a round joins it, so that all requests of a turn share one.

A leader without other voters asks no one. While a voter that is needed downloads a snapshot, no round
is confirmed, and nothing can be committed either.
"""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import LeadershipConfirmed
from kraftctl.raft.high_watermark import high_watermark
from kraftctl.raft.parked_fetches import ParkedFetch
from kraftctl.raft.respond_fetch import answer
from kraftctl.raft.states import NEVER_MS, Leader


def ask_round(core: RaftCore, leader: Leader) -> int:
    """Returns the round that confirms the leadership of this moment; `LeadershipConfirmed` names it later."""
    asked = leader.ask_round(core.now_ms)
    _inform_if_due(core, leader)
    return asked


def settle_rounds(core: RaftCore) -> None:
    """Informs voters when that is due; confirms what fewer voters than before have to confirm."""
    leader = core.leader()
    if leader is None:
        return
    if leader.asked_round > leader.confirmed_round:
        _inform_if_due(core, leader)
        _confirm(core, leader)
    if leader.asked_round == leader.confirmed_round:
        leader.round_due_ms = NEVER_MS


def _inform_if_due(core: RaftCore, leader: Leader) -> None:
    if leader.round_due_ms > core.now_ms:
        return
    leader.round_due_ms = NEVER_MS
    for fetch in core.parked.of_voters():
        if must_be_informed(core, leader, fetch):
            core.parked.remove(fetch.request_id)
            answer(core, leader, fetch)


def must_be_informed(core: RaftCore, leader: Leader, fetch: ParkedFetch) -> bool:
    """Returns whether a voter needs a response now, although there is nothing new for it."""
    voter = leader.voter_states.get(fetch.key.id)
    if voter is None or fetch.delayed or leader.asked_round <= leader.confirmed_round:
        return False
    is_informed = (
        leader.asked_round == voter.informed_round and fetch.connection_id == voter.informed_connection_id
    )
    return not is_informed and leader.may_inform_at_ms <= core.now_ms and voter.matches(fetch.key)


def hear_voter(core: RaftCore, leader: Leader, fetch: ParkedFetch) -> None:
    """Counts the Fetch of a voter for the round it was informed of on the same connection."""
    voter = leader.voter_states[fetch.key.id]
    if voter.informed_round > voter.heard_round and fetch.connection_id == voter.informed_connection_id:
        voter.heard_round = voter.informed_round
        _confirm(core, leader)


def _confirm(core: RaftCore, leader: Leader) -> None:
    """Confirms the round of a majority."""
    heard = [
        leader.asked_round if state.matches(core.key) else state.heard_round
        for state in leader.voter_states.values()
    ]
    confirmed = high_watermark(heard)
    if confirmed > leader.confirmed_round:
        leader.confirmed_round = confirmed
        core.emit(LeadershipConfirmed(confirmed))
