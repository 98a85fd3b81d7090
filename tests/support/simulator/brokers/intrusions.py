"""Requests of brokers, controllers and operators, from a user who has no right to any of them."""

from __future__ import annotations

import random

from kraftctl_protocol.generated import (
    begin_quorum_epoch_request,
    end_quorum_epoch_request,
    vote_request,
)
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.controller_registration_request import ControllerRegistrationRequest
from kraftctl_protocol.generated.end_quorum_epoch_request import EndQuorumEpochRequest
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kraftctl_protocol.generated.fetch_snapshot_request import (
    FetchSnapshotRequest,
    PartitionSnapshot,
    SnapshotId,
    TopicSnapshot,
)
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.update_raft_voter_request import KRaftVersionFeature, UpdateRaftVoterRequest
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID

EPOCH = 1 << 20
"""Of elections that no voter holds."""


def draw_intrusion(rng: random.Random, cluster_id: str, broker_id: int, node_id: int) -> Message:
    """The error is CLUSTER_AUTHORIZATION_FAILED, whatever is in them."""
    return rng.choice(
        (
            AddRaftVoterRequest(cluster_id=cluster_id, voter_id=node_id),
            AllocateProducerIdsRequest(broker_id=broker_id),
            AlterPartitionRequest(broker_id=broker_id),
            AssignReplicasToDirsRequest(broker_id=broker_id),
            _begin_quorum_epoch(cluster_id, node_id),
            BrokerHeartbeatRequest(broker_id=broker_id, want_shut_down=True),
            BrokerRegistrationRequest(broker_id=broker_id, cluster_id=cluster_id),
            ControllerRegistrationRequest(controller_id=node_id),
            _end_quorum_epoch(cluster_id, node_id),
            EnvelopeRequest(request_principal=b""),
            _fetch(cluster_id),
            _fetch_snapshot(cluster_id),
            RemoveRaftVoterRequest(cluster_id=cluster_id, voter_id=node_id),
            UpdateRaftVoterRequest(
                cluster_id=cluster_id,
                current_leader_epoch=EPOCH,
                voter_id=node_id,
                kraft_version_feature=KRaftVersionFeature(max_supported_version=1),
            ),
            _vote(cluster_id, node_id),
        )
    )


def _begin_quorum_epoch(cluster_id: str, leader_id: int) -> BeginQuorumEpochRequest:
    partition = begin_quorum_epoch_request.PartitionData(leader_id=leader_id, leader_epoch=EPOCH)
    topic = begin_quorum_epoch_request.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return BeginQuorumEpochRequest(cluster_id=cluster_id, topics=[topic])


def _end_quorum_epoch(cluster_id: str, leader_id: int) -> EndQuorumEpochRequest:
    partition = end_quorum_epoch_request.PartitionData(leader_id=leader_id, leader_epoch=EPOCH)
    topic = end_quorum_epoch_request.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return EndQuorumEpochRequest(cluster_id=cluster_id, topics=[topic])


def _fetch(cluster_id: str) -> FetchRequest:
    partition = FetchPartition(partition_max_bytes=1_000_000)
    topic = FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
    return FetchRequest(cluster_id=cluster_id, topics=[topic])


def _fetch_snapshot(cluster_id: str) -> FetchSnapshotRequest:
    partition = PartitionSnapshot(snapshot_id=SnapshotId())
    topic = TopicSnapshot(name=METADATA_TOPIC, partitions=[partition])
    return FetchSnapshotRequest(cluster_id=cluster_id, topics=[topic])


def _vote(cluster_id: str, voter_id: int) -> VoteRequest:
    partition = vote_request.PartitionData(replica_epoch=EPOCH, replica_id=99)
    topic = vote_request.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return VoteRequest(cluster_id=cluster_id, voter_id=voter_id, topics=[topic])
