"""KIP-853: which voters may follow which, and what a node may ask about its own vote."""

from __future__ import annotations

from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey, is_same_replica
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from tests.support.simulator.checks.checked_replica import CheckedReplica
from tests.support.simulator.checks.invariants import broken


def keys_of(voters: VoterSet) -> set[ReplicaKey]:
    return {node.key for node in voters.nodes.values()}


def is_same(one: VoterSet, other: VoterSet) -> bool:
    return keys_of(one) == keys_of(other)


def majorities_overlap(one: VoterSet, other: VoterSet) -> bool:
    """At most one voter was added or removed: any two majorities then share a voter."""
    return _only_in(one, other) + _only_in(other, one) <= 1


def _only_in(one: VoterSet, other: VoterSet) -> int:
    """How many voters. A static voter has no directory id: it is any replica of its id."""
    count = 0
    for node in one.nodes.values():
        twin = other.nodes.get(node.key.id)
        if twin is None or not (is_same_replica(node.key, twin.key) or is_same_replica(twin.key, node.key)):
            count += 1
    return count


def check_directories(replica: CheckedReplica, voters: VoterSet) -> None:
    """Where the log has the voters, an id alone would be two replicas after a disk is replaced."""
    for node in voters.nodes.values():
        if node.key.directory_id == NO_DIRECTORY_ID:
            broken("VotersHaveDirectories", f"{replica.name} writes the voter {node!r}")


def check_own_request(replica: CheckedReplica, request: AddRaftVoterRequest | RemoveRaftVoterRequest) -> None:
    """KIP-1186: a node asks for itself alone. Its former directory leaves before it is added."""
    voters = replica.raft.voter_set
    named = ReplicaKey(request.voter_id, request.voter_directory_id)
    if isinstance(request, AddRaftVoterRequest):
        is_due = named == replica.key and replica.node_id not in voters.nodes
    else:
        is_due = named.id == replica.node_id and named != replica.key and voters.is_voter(named)
    if not is_due:
        broken(
            "ObserversJoinOnce", f"{replica.name}, {replica.key}, asks for {request!r}, voters: {voters!r}"
        )
