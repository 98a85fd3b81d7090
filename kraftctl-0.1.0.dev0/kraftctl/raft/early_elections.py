"""KIP-996: a leader that refuses connections is probably gone: followers do not wait for their fetch timeout.

1. Only a voter that has fetched from the leader in this epoch, and at the address that now refuses, takes the
   hint: another address may be an old one. Where no majority exists without the leader, there is nothing to
   win. What was sent to the leader of an earlier epoch says nothing.
2. It asks for pre-votes: the voter with the lowest id immediately, the others one after the other, so that
   they do not split the votes. A wrong hint changes nothing: voters that still fetch from the leader refuse.
   One without pre-votes (Kafka before 4.0) counts as one that refuses: a candidate would raise its epoch.
3. A voter with the same hint grants a pre-vote, although it has fetched in this epoch.
4. A lost attempt leaves the follower as it was, with the fetch timeout that it had. It fetches from the
   leader again; each further refusal is a new attempt, so the pauses are those between two connections.
5. `EarlyElectionLimit` bounds the attempts in an epoch, and how soon after one that was won there is another.

Kafka's voters wait for their fetch timeouts, and refuse pre-votes until then.
"""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO
from kraftctl.raft.elections import record_vote
from kraftctl.raft.peers import Peer
from kraftctl.raft.states import Follower, Prospective

SUCCESSORS_APART_FACTOR = 10
"""Each voter begins later than the one before it by this part of the election timeout, 100 ms by default.

By then the one before has written its vote to the disk."""


def connection_refused(core: RaftCore, peer: Peer) -> None:
    """Handles that no process listens at the address of `peer`, which a request of the present state has
    found.
    """
    state = core.state
    if isinstance(state, Follower):
        if (peer.host, peer.port) == state.leader_endpoints.get(core.default_listener()):
            _leader_refused(core, state)
    elif (
        isinstance(state, Prospective)
        and state.interrupted is not None
        and peer.id in state.election.unrecorded_voter_ids()
    ):
        record_vote(core, peer.id, False)


def _leader_refused(core: RaftCore, state: Follower) -> None:
    if not state.has_fetched_from_leader or not state.has_reached_leader:
        return
    if state.download is not None or state.has_early_election():
        return
    if state.deadline_ms == core.loading.put_off_until_ms:
        return
    if not core.may_vote() or not _has_majority_without(core, state.leader_id):
        return
    if not core.early_elections.admits(state.epoch, core.now_ms):
        return
    wait_ms = _wait_ms(core, state.leader_id)
    text = f"Leader {state.leader_id} of epoch {state.epoch} refuses connections: pre-votes in {wait_ms} ms"
    core.limited_notice("early elections", INFO, text)
    state.leader_refused(core.now_ms + wait_ms)


def _has_majority_without(core: RaftCore, leader_id: int) -> bool:
    voter_ids = core.voters.voter_ids()
    return len(voter_ids) - (leader_id in voter_ids) > len(voter_ids) // 2


def _wait_ms(core: RaftCore, leader_id: int) -> int:
    """Returns the wait by rank, for all but the first with jitter: voters may know different voter sets."""
    rank = sum(voter_id < core.key.id for voter_id in core.voters.voter_ids() if voter_id != leader_id)
    apart_ms = core.config.election_timeout_ms // SUCCESSORS_APART_FACTOR
    if rank == 0 or apart_ms == 0:
        return 0
    return rank * apart_ms + core.random_below(max(1, apart_ms // 2))
