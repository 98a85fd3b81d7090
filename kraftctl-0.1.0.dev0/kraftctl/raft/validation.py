"""KIP-595: the checks that several raft requests share, in Kafka's order."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import WARN
from kraftctl.raft.replica_key import ReplicaKey, is_same_replica
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.peer_limits import uses_epochs_up


def request_error(core: RaftCore, cluster_id: str | None, *, is_valid: bool) -> Errors:
    """Returns the error of the whole request, before any partition of it is looked at."""
    if is_other_cluster(core, cluster_id):
        return Errors.INCONSISTENT_CLUSTER_ID
    return Errors.NONE if is_valid else Errors.INVALID_REQUEST


def is_other_cluster(core: RaftCore, cluster_id: str | None) -> bool:
    """Returns whether it names another cluster; a request without a cluster id is accepted."""
    return cluster_id is not None and cluster_id != core.cluster_id


def leader_only_error(core: RaftCore, request_epoch: int) -> Errors:
    """Returns the error of requests that only the leader of this very epoch may handle.

    A leader that shuts down responds with BROKER_NOT_AVAILABLE: a replica that gets NOT_LEADER_OR_FOLLOWER
    with an unchanged epoch retries immediately, without backoff.
    """
    epoch = core.state.epoch
    if request_epoch < epoch:
        return Errors.FENCED_LEADER_EPOCH
    if request_epoch > epoch:
        return Errors.UNKNOWN_LEADER_EPOCH
    if core.shutting_down:
        return Errors.BROKER_NOT_AVAILABLE
    if core.leader() is None:
        return Errors.NOT_LEADER_OR_FOLLOWER
    return Errors.NONE


def voter_only_error(core: RaftCore, remote_id: int, request_epoch: int) -> Errors:
    """Returns the error of a request of a candidate or leader. A larger epoch than ours is joined if it
    is credible.
    """
    if request_epoch < core.state.epoch:
        return Errors.FENCED_LEADER_EPOCH
    if remote_id < 0 or uses_epochs_up(core.state.epoch, request_epoch):
        return Errors.INVALID_REQUEST
    return Errors.NONE


def is_raised_too_often(core: RaftCore, epoch: int) -> bool:
    """Returns whether to ignore a higher epoch for now, as if its message was lost; a line says so."""
    if epoch <= core.state.epoch or not core.epoch_pace.is_exceeded(core.now_ms):
        return False
    core.limited_notice(
        "epochs",
        WARN,
        f"Epoch {epoch} is not joined yet: other replicas have raised the epoch more often than elections do."
        " Next step: look into the logs of the other controllers for who does, and compare their voters",
    )
    return True


def is_for_another_voter(core: RaftCore, voter_id: int, voter_directory_id: bytes) -> bool:
    """Returns whether the request names another voter: a replica with a new disk is not the old one
    (KIP-853).
    """
    if voter_id < 0:
        return False
    return not is_same_replica(ReplicaKey(voter_id, voter_directory_id), core.key)
