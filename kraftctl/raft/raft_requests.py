"""KIP-595, KIP-853, KIP-996: the requests that a replica sends, as its current state asks for them."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.states import Resigned, SnapshotDownload
from kraftctl_protocol.generated import (
    begin_quorum_epoch_request,
    end_quorum_epoch_request,
    fetch_request,
    fetch_snapshot_request,
    vote_request,
)
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.end_quorum_epoch_request import EndQuorumEpochRequest
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.metadata_topic import METADATA_PARTITION, METADATA_TOPIC, METADATA_TOPIC_ID


def vote_request_to(core: RaftCore, voter: ReplicaKey, *, pre_vote: bool) -> VoteRequest:
    """Claims what is on disk only: after the vote is given, a power failure must not take any of it."""
    flushed_end = core.log.flushed_end()
    partition = vote_request.PartitionData(
        partition_index=METADATA_PARTITION,
        replica_epoch=core.state.epoch,
        replica_id=core.key.id,
        replica_directory_id=core.key.directory_id,
        voter_directory_id=voter.directory_id,
        last_offset_epoch=flushed_end.epoch,
        last_offset=flushed_end.offset,
        pre_vote=pre_vote,
    )
    topic = vote_request.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return VoteRequest(cluster_id=core.cluster_id, voter_id=voter.id, topics=[topic])


def begin_quorum_epoch_request_to(core: RaftCore, voter: ReplicaKey) -> BeginQuorumEpochRequest:
    partition = begin_quorum_epoch_request.PartitionData(
        partition_index=METADATA_PARTITION,
        voter_directory_id=voter.directory_id,
        leader_id=core.key.id,
        leader_epoch=core.state.epoch,
    )
    return BeginQuorumEpochRequest(
        cluster_id=core.cluster_id,
        voter_id=voter.id,
        topics=[begin_quorum_epoch_request.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])],
        leader_endpoints=[
            begin_quorum_epoch_request.LeaderEndpoint(name=name, host=host, port=port)
            for name, (host, port) in core.endpoints.items()
        ],
    )


def end_quorum_epoch_request_of(core: RaftCore, state: Resigned) -> EndQuorumEpochRequest:
    """Kafka's leaders do not name their endpoints here; who followed them knows them."""
    partition = end_quorum_epoch_request.PartitionData(
        partition_index=METADATA_PARTITION,
        leader_id=core.key.id,
        leader_epoch=state.epoch,
        preferred_successors=[key.id for key in state.preferred_successors],
        preferred_candidates=[
            end_quorum_epoch_request.ReplicaInfo(candidate_id=key.id, candidate_directory_id=key.directory_id)
            for key in state.preferred_successors
        ],
    )
    topic = end_quorum_epoch_request.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return EndQuorumEpochRequest(cluster_id=core.cluster_id, topics=[topic])


def fetch_request_of(core: RaftCore) -> FetchRequest:
    """What we fetch from, we have on disk: nobody may send this before the log is flushed."""
    assert core.log.flushed_offset == core.log.end_offset
    partition = fetch_request.FetchPartition(
        partition=METADATA_PARTITION,
        current_leader_epoch=core.state.epoch,
        fetch_offset=core.log.end_offset,
        last_fetched_epoch=core.log.last_epoch(),
        replica_directory_id=core.key.directory_id,
        high_watermark=core.high_watermark,
        partition_max_bytes=0,
    )
    topic = fetch_request.FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
    return FetchRequest(
        cluster_id=core.cluster_id,
        replica_state=fetch_request.ReplicaState(replica_id=core.key.id),
        max_wait_ms=core.config.fetch_wait_ms_max,
        max_bytes=core.config.fetch_bytes_max,
        topics=[topic],
    )


def fetch_snapshot_request_of(core: RaftCore, download: SnapshotDownload) -> FetchSnapshotRequest:
    """The next slice (KIP-630)."""
    partition = fetch_snapshot_request.PartitionSnapshot(
        partition=METADATA_PARTITION,
        current_leader_epoch=core.state.epoch,
        snapshot_id=fetch_snapshot_request.SnapshotId(
            end_offset=download.snapshot_id.offset, epoch=download.snapshot_id.epoch
        ),
        position=download.position,
        replica_directory_id=core.key.directory_id,
    )
    topic = fetch_snapshot_request.TopicSnapshot(name=METADATA_TOPIC, partitions=[partition])
    return FetchSnapshotRequest(
        cluster_id=core.cluster_id,
        replica_id=core.key.id,
        max_bytes=core.config.fetch_snapshot_bytes_max,
        topics=[topic],
    )
