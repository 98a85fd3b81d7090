"""A leader learns that it leads still, after a given moment: rounds of contact with a majority of the voters.

A request to the active controller asks for a round and is answered when the round is confirmed: no later
leader was elected before the request came. It is Raft's ReadIndex for voters that pull:

1. The leader responds immediately to each voter whose Fetch waits, and to the next one of the others.
2. The Fetch that a voter sends after such a response counts: the voter knows of no later epoch. A Fetch
   that was on its way before proves nothing.
3. Who asks while no voter was informed of a round joins it, so that all requests of a turn share one.

A leader without other voters has no one to ask.
"""

from __future__ import annotations

from typing import Final

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import LeadershipConfirmed
from kraftctl.raft.high_watermark import high_watermark
from kraftctl.raft.parked_fetches import ParkedFetch
from kraftctl.raft.respond_fetch import answer
from kraftctl.raft.states import Leader

NO_ROUND: Final = 0
"""The round of what needs no confirmation."""


def ask_round(core: RaftCore, leader: Leader) -> int:
    """Returns the round that confirms the leadership of this moment; `LeadershipConfirmed` names it later."""
    if core.is_only_voter():
        return NO_ROUND
    asked = leader.ask_round()
    for fetch in core.parked.of_voters():
        if must_be_informed(leader, fetch):
            core.parked.remove(fetch.request_id)
            answer(core, leader, fetch)
    return asked


def must_be_informed(leader: Leader, fetch: ParkedFetch) -> bool:
    """Returns whether a voter needs a response now, although there is nothing new for it."""
    voter = leader.voter_states.get(fetch.key.id)
    return (
        voter is not None
        and not fetch.delayed
        and leader.asked_round > max(voter.informed_round, leader.confirmed_round)
        and voter.matches(fetch.key)
    )


def hear_voter(core: RaftCore, leader: Leader, voter_id: int) -> None:
    """Counts the Fetch of a voter for the round it was informed of, and confirms that of a majority."""
    voter = leader.voter_states[voter_id]
    if voter.informed_round <= voter.heard_round:
        return
    voter.heard_round = voter.informed_round
    heard = [
        leader.asked_round if state.matches(core.key) else state.heard_round
        for state in leader.voter_states.values()
    ]
    confirmed = high_watermark(heard)
    if confirmed > leader.confirmed_round:
        leader.confirmed_round = confirmed
        core.emit(LeadershipConfirmed(confirmed))
