"""AddRaftVoter and RemoveRaftVoter for the replicas of simulated quorums (KIP-853)."""

from __future__ import annotations

from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest, Listener
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from tests.support.simulator.raft_transcript import CLUSTER_ID, LISTENER, directory_id, endpoint


def add_voter(voter_id: int) -> AddRaftVoterRequest:
    host, port = endpoint(voter_id)
    return AddRaftVoterRequest(
        cluster_id=CLUSTER_ID,
        voter_id=voter_id,
        voter_directory_id=directory_id(voter_id),
        listeners=[Listener(name=LISTENER, host=host, port=port)],
    )


def remove_voter(voter_id: int) -> RemoveRaftVoterRequest:
    return RemoveRaftVoterRequest(
        cluster_id=CLUSTER_ID, voter_id=voter_id, voter_directory_id=directory_id(voter_id)
    )
