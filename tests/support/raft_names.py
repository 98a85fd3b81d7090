"""Ids, endpoints and voters as tests of raft name them."""

from __future__ import annotations

from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode

LISTENER = "CONTROLLER"
CLUSTER_ID = "cluster"


def directory_id(node_id: int, generation: int = 0) -> bytes:
    """Of the first disk of that node, or of the one that replaced it."""
    return bytes([100 + generation]) * 12 + node_id.to_bytes(4, "big")


def replica_key(node_id: int, generation: int = 0) -> ReplicaKey:
    return ReplicaKey(node_id, directory_id(node_id, generation))


def endpoint(node_id: int) -> tuple[str, int]:
    return (f"host-{node_id}", 9093)


def voter_node(node_id: int) -> VoterNode:
    return VoterNode(replica_key(node_id), {LISTENER: endpoint(node_id)}, 0, 1)
