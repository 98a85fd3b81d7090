"""KIP-595, KIP-836, KIP-853: DescribeQuorum, the leader's view of all replicas."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.events import RequestReceived
from kraftctl.raft.replica_key import NO_DIRECTORY_ID
from kraftctl.raft.replica_state import ReplicaState
from kraftctl.raft.states import Leader
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.describe_quorum_response import (
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.describe_quorum_response import ReplicaState as DescribedReplica
from kraftctl_protocol.metadata_topic import METADATA_PARTITION, METADATA_TOPIC, is_for_metadata_log

DIRECTORY_ID_FROM_VERSION = 2
NODES_FROM_VERSION = 2


def handle_describe_quorum(core: RaftCore, event: RequestReceived) -> None:
    """Responds with an error in the partition when it does not lead; an envelope around it becomes
    NOT_CONTROLLER.
    """
    request = event.request
    assert isinstance(request, DescribeQuorumRequest)
    if not is_for_metadata_log(request):
        core.respond(event.request_id, _unknown_partitions(request))
        return
    leader = core.leader()
    if leader is None:
        partition = _refused(METADATA_PARTITION, Errors.NOT_LEADER_OR_FOLLOWER)
        response = DescribeQuorumResponse(
            topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])]
        )
    else:
        leader.forget_silent_observers(core.now_ms)
        response = _describe(core, leader, event.version)
    core.respond(event.request_id, response)


def _describe(core: RaftCore, leader: Leader, version: int) -> DescribeQuorumResponse:
    voters = [leader.voter_states[voter_id] for voter_id in sorted(leader.voter_states)]
    observers = [leader.observer_states[key] for key in sorted(leader.observer_states)]
    partition = PartitionData(
        partition_index=METADATA_PARTITION,
        leader_id=leader.leader_id,
        leader_epoch=leader.epoch,
        high_watermark=leader.high_watermark,
        current_voters=[_replica(core, state, version) for state in voters],
        observers=[_replica(core, state, version) for state in observers],
    )
    response = DescribeQuorumResponse(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])
    if version >= NODES_FROM_VERSION:
        response.nodes = [_node(state) for state in voters]
    return response


def _replica(core: RaftCore, state: ReplicaState, version: int) -> DescribedReplica:
    """Describes a replica. The leader itself has always just fetched; its end offset is that of its log,
    flushed or not.
    """
    is_leader = state.key.id == core.key.id and state.matches(core.key)
    return DescribedReplica(
        replica_id=state.key.id,
        replica_directory_id=state.key.directory_id
        if version >= DIRECTORY_ID_FROM_VERSION
        else NO_DIRECTORY_ID,
        log_end_offset=core.log.end_offset if is_leader else state.end_offset,
        last_fetch_timestamp=core.wall_ms if is_leader else state.last_heard_wall_ms,
        last_caught_up_timestamp=core.wall_ms if is_leader else state.last_caught_up_wall_ms,
    )


def _node(state: ReplicaState) -> Node:
    return Node(
        node_id=state.key.id,
        listeners=[
            Listener(name=name, host=host, port=port) for name, (host, port) in state.endpoints.items()
        ],
    )


def _unknown_partitions(request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    return DescribeQuorumResponse(
        topics=[
            TopicData(
                topic_name=topic.topic_name,
                partitions=[
                    _refused(partition.partition_index, Errors.UNKNOWN_TOPIC_OR_PARTITION)
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _refused(index: int, error: Errors) -> PartitionData:
    return PartitionData(partition_index=index, error_code=error, error_message=None)
