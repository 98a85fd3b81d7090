"""KIP-853 UpdateRaftVoter: when a voter reports to its leader where it listens and what it supports.

| kraft.version | it asks | until |
|---|---|---|
| 1 | while KRaftVoters has other endpoints of it, or another range of kraft.version | the log agrees |
| 0 | each new leader: only the leader's memory has them | that leader has answered |

As in Kafka this is decided once per fetch timeout, the first time that long after it began to follow, and
instead of a Fetch. Whatever the response is, the next request leaves a fetch timeout later.
"""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.states import Follower
from kraftctl_protocol.generated.update_raft_voter_request import (
    KRaftVersionFeature,
    Listener,
    UpdateRaftVoterRequest,
)


def is_to_update(core: RaftCore, state: Follower) -> bool:
    """Returns whether to send UpdateRaftVoter now. A replica that has lost its log reads it first."""
    if core.now_ms < state.update_voter_at_ms or not core.may_vote():
        return False
    if core.history.kraft_version() >= 1:
        return core.voters.needs_update(core.local_node())
    return not state.has_updated_leader


def update_raft_voter_request(core: RaftCore) -> UpdateRaftVoterRequest:
    node = core.local_node()
    return UpdateRaftVoterRequest(
        cluster_id=core.cluster_id,
        current_leader_epoch=core.state.epoch,
        voter_id=node.key.id,
        voter_directory_id=node.key.directory_id,
        listeners=[
            Listener(name=name, host=host, port=port) for name, (host, port) in node.endpoints.items()
        ],
        kraft_version_feature=KRaftVersionFeature(
            min_supported_version=node.kraft_version_min, max_supported_version=node.kraft_version_max
        ),
    )
