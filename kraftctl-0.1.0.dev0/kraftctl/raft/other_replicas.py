"""Finds problems of the quorum in requests of other replicas: two processes with one id, different voters."""

from __future__ import annotations

import ipaddress
from typing import Final

from kraftctl.raft import progress_states as states
from kraftctl.raft.core import RaftCore
from kraftctl.raft.parked_fetches import ParkedFetch
from kraftctl.raft.progress_faults import fault
from kraftctl.raft.progress_reasons import voters_text
from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey
from kraftctl.raft.replica_state import ReplicaState
from kraftctl.raft.states import Leader
from kraftctl_protocol.uuids import uuid_to_string

MOVES_MS: Final = 10_000
"""A voter with a new directory makes itself a voter sooner (KIP-1186), and then there is no problem."""

OVERLAPS_OF_TWO: Final = 5
"""This many fetches in a row that overlap are of two processes: one that has ended leaves one behind."""


def note_candidate(core: RaftCore, candidate: ReplicaKey, client_address: bytes) -> None:
    """Notes a replica that asks for a vote, or a pre-vote."""
    note_replica(core, candidate, "a Vote", client_address)
    is_static = core.history.kraft_version() == 0 and core.is_voter()
    if is_static and candidate.id not in core.voters.voter_ids():
        who = f"Controller {candidate}{_at(client_address)} asks for a vote"
        _differing(core, candidate.id, who)


def note_leader(core: RaftCore, leader_id: int) -> None:
    """Notes the leader of an epoch that a response or a request names."""
    voters = core.voters
    if core.history.kraft_version() == 0 and voters.voter_ids() and leader_id not in voters.voter_ids():
        _differing(core, leader_id, f"Controller {leader_id} leads epoch {core.state.epoch}")


def note_own_id_leads(core: RaftCore, epoch: int) -> None:
    """Notes that others name this id as a leader that this process is not. Its former process may have
    been.
    """
    evidence = f"other controllers name it as the leader of epoch {epoch}, which this process does not lead"
    fields = {"id": str(core.key.id), "evidence": evidence}
    fault(core, states.SAME_ID, f"leads {core.key.id}", fields, lasts_ms=2 * core.config.fetch_timeout_ms)


def note_replica(core: RaftCore, key: ReplicaKey, request: str, client_address: bytes) -> None:
    """Notes the id by which the sender of a request names itself."""
    if key.directory_id == NO_DIRECTORY_ID:
        return  # an old release
    if key.id == core.key.id:
        if key.directory_id != core.key.directory_id:
            evidence = f"{request} of {key} has come{sent_from(client_address)}"
            fields = {"id": str(key.id), "evidence": evidence}
            fault(core, states.SAME_ID, str(key), fields, lasts_ms=0)
        return
    other = core.sightings.other_process(key.id, key.directory_id, core.now_ms)
    if other is not None:
        both = f"{key} and of {ReplicaKey(key.id, other)}"
        evidence = f"requests of {both} take turns, this one{sent_from(client_address)}"
        fault(core, states.TWO_PROCESSES, str(key.id), {"id": str(key.id), "evidence": evidence}, lasts_ms=0)


def note_observer_with_id_of_voter(
    core: RaftCore, leader: Leader, key: ReplicaKey, client_address: bytes
) -> None:
    """Notes a Fetch of an observer that has the id of a voter in another directory (KIP-853)."""
    voter = leader.voter_states.get(key.id)
    if voter is None:
        return
    fields = {"id": str(key.id), "known": str(voter.key), "directory": uuid_to_string(voter.key.directory_id)}
    silent_ms = core.now_ms - voter.last_fetch_ms
    if voter.last_fetch_ms >= 0 and silent_ms < core.config.fetch_timeout_ms:
        fields["evidence"] = f"both {voter.key} and {key} fetch, this one{sent_from(client_address)}"
        fault(core, states.TWO_PROCESSES, str(key.id), fields, lasts_ms=core.config.fetch_timeout_ms)
        return
    fields["evidence"] = f"{key} fetches{sent_from(client_address)}"
    fields["peer"] = f"controller {key.id}"
    fault(core, states.OTHER_DIRECTORY, str(key), fields, lasts_ms=MOVES_MS)


def note_waiting_fetch(
    core: RaftCore, voter: ReplicaState, fetch: ParkedFetch, client_address: bytes
) -> None:
    """Notes two processes on copies of one directory: nothing else distinguishes their requests."""
    former_id = voter.waits(fetch.request_id)
    if former_id == fetch.request_id or not core.parked.holds(former_id):
        return
    if voter.fetches_overlap(core.now_ms) >= OVERLAPS_OF_TWO:
        evidence = f"two requests of {fetch.key} wait at the same time, this one{sent_from(client_address)}"
        fields = {"id": str(fetch.key.id), "evidence": f"{evidence}; both use copies of one directory"}
        fault(core, states.TWO_PROCESSES, str(fetch.key), fields, lasts_ms=0)


def _differing(core: RaftCore, replica_id: int, who: str) -> None:
    fields = {"who": who, "voters": voters_text(core.voters)}
    fault(core, states.DIFFERING_VOTERS, str(replica_id), fields, lasts_ms=0)


def _at(client_address: bytes) -> str:
    return f" at {ipaddress.ip_address(client_address)}" if client_address else ""


def sent_from(client_address: bytes) -> str:
    """Returns the address for a line, nothing where it is unknown."""
    return f" from {ipaddress.ip_address(client_address)}" if client_address else ""
