"""Raft requests from the words of a transcript: `fetch replica=1 epoch=1 offset=0 version=18`."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl_protocol.generated import (
    add_raft_voter_request,
    begin_quorum_epoch_request,
    describe_quorum_request,
    end_quorum_epoch_request,
    fetch_request,
    fetch_snapshot_request,
    remove_raft_voter_request,
    update_raft_voter_request,
    vote_request,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import ONE_UUID, ZERO_UUID

Words = dict[str, str]


def _directory_id(words: Words, node_id: int, name: str = "directory") -> bytes:
    """`directory=none`, `directory=other`, or by default the directory of the id."""
    word = words.get(name, "own")
    if word == "none":
        return ZERO_UUID
    return bytes([101 if word == "other" else 100]) * 12 + max(node_id, 0).to_bytes(4, "big")


def _cluster_id(words: Words) -> str | None:
    word = words.get("cluster", "cluster")
    return None if word == "none" else word


def _topic(words: Words) -> str:
    return words.get("topic", "__cluster_metadata")


def fetch(words: Words) -> tuple[Message, int]:
    version = int(words.get("version", 18))
    replica_id = int(words.get("replica", 101))
    partition = fetch_request.FetchPartition(
        partition=int(words.get("partition", 0)),
        current_leader_epoch=int(words.get("epoch", 1)),
        fetch_offset=int(words["offset"]),
        last_fetched_epoch=int(words.get("last-epoch", 1)) if version >= 12 else -1,
        replica_directory_id=_directory_id(words, replica_id) if version >= 17 else ZERO_UUID,
    )
    if version >= 18:
        partition.high_watermark = int(words.get("hw", -1))
    request = fetch_request.FetchRequest(
        cluster_id=_cluster_id(words) if version >= 12 else None,
        max_wait_ms=int(words.get("wait", 500)),
        max_bytes=int(words.get("max-bytes", 1 << 20)),
        topics=[
            fetch_request.FetchTopic(
                topic=_topic(words) if version < 13 else "",
                topic_id=ZERO_UUID if version < 13 or "topic" in words else ONE_UUID,
                partitions=[partition],
            )
        ],
    )
    if version >= 15:
        request.replica_state.replica_id = replica_id
    else:
        request.replica_id = replica_id
    return request, version


def fetch_snapshot(words: Words) -> tuple[Message, int]:
    version = int(words.get("version", 1))
    replica_id = int(words.get("replica", 101))
    offset, _, epoch = words["id"].partition("-")
    partition = fetch_snapshot_request.PartitionSnapshot(
        partition=int(words.get("partition", 0)),
        current_leader_epoch=int(words.get("epoch", 1)),
        snapshot_id=fetch_snapshot_request.SnapshotId(end_offset=int(offset), epoch=int(epoch)),
        position=int(words.get("position", 0)),
        replica_directory_id=_directory_id(words, replica_id) if version >= 1 else ZERO_UUID,
    )
    topic = fetch_snapshot_request.TopicSnapshot(name=_topic(words), partitions=[partition])
    request = fetch_snapshot_request.FetchSnapshotRequest(
        cluster_id=_cluster_id(words),
        replica_id=replica_id,
        max_bytes=int(words.get("max-bytes", 1 << 20)),
        topics=[topic] * int(words.get("topics", 1)),
    )
    return request, version


def vote(words: Words) -> tuple[Message, int]:
    version = int(words.get("version", 2))
    candidate, voter = int(words["candidate"]), int(words.get("voter", -1))
    partition = vote_request.PartitionData(
        replica_epoch=int(words["epoch"]),
        replica_id=candidate,
        replica_directory_id=_directory_id(words, candidate) if version >= 1 else ZERO_UUID,
        voter_directory_id=_directory_id(words, voter, "voter-directory") if version >= 1 else ZERO_UUID,
        last_offset_epoch=int(words.get("last-epoch", 0)),
        last_offset=int(words.get("last-offset", 0)),
        pre_vote=words.get("pre-vote") == "yes",
    )
    topic = vote_request.TopicData(topic_name=_topic(words), partitions=[partition])
    return vote_request.VoteRequest(cluster_id=_cluster_id(words), voter_id=voter, topics=[topic]), version


def begin_quorum_epoch(words: Words) -> tuple[Message, int]:
    version = int(words.get("version", 1))
    leader, voter = int(words["leader"]), int(words.get("voter", -1))
    partition = begin_quorum_epoch_request.PartitionData(
        voter_directory_id=_directory_id(words, voter, "voter-directory") if version >= 1 else ZERO_UUID,
        leader_id=leader,
        leader_epoch=int(words["epoch"]),
    )
    request = begin_quorum_epoch_request.BeginQuorumEpochRequest(
        cluster_id=_cluster_id(words),
        voter_id=voter,
        topics=[begin_quorum_epoch_request.TopicData(topic_name=_topic(words), partitions=[partition])],
    )
    if version >= 1 and words.get("endpoints") != "none":
        request.leader_endpoints = [
            begin_quorum_epoch_request.LeaderEndpoint(name="CONTROLLER", host=f"host-{leader}", port=9093)
        ]
    return request, version


def end_quorum_epoch(words: Words) -> tuple[Message, int]:
    version = int(words.get("version", 1))
    successors = [int(word) for word in words.get("successors", "").split(",") if word]
    partition = end_quorum_epoch_request.PartitionData(
        leader_id=int(words["leader"]), leader_epoch=int(words["epoch"])
    )
    if version == 0:
        partition.preferred_successors = successors
    else:
        partition.preferred_candidates = [
            end_quorum_epoch_request.ReplicaInfo(
                candidate_id=voter_id, candidate_directory_id=_directory_id({}, voter_id)
            )
            for voter_id in successors
        ]
    topic = end_quorum_epoch_request.TopicData(topic_name=_topic(words), partitions=[partition])
    request = end_quorum_epoch_request.EndQuorumEpochRequest(cluster_id=_cluster_id(words), topics=[topic])
    return request, version


def describe_quorum(words: Words) -> tuple[Message, int]:
    topic = describe_quorum_request.TopicData(
        topic_name=_topic(words),
        partitions=[describe_quorum_request.PartitionData(partition_index=int(words.get("partition", 0)))],
    )
    request = describe_quorum_request.DescribeQuorumRequest(topics=[topic])
    return request, int(words.get("version", 2))


def add_voter(words: Words) -> tuple[Message, int]:
    voter = int(words["voter"])
    listener = add_raft_voter_request.Listener(
        name=words.get("endpoint", "CONTROLLER"), host=f"host-{voter}", port=9093
    )
    request = add_raft_voter_request.AddRaftVoterRequest(
        cluster_id=_cluster_id(words),
        timeout_ms=1000,
        voter_id=voter,
        voter_directory_id=_directory_id(words, voter),
        listeners=[listener],
    )
    return request, int(words.get("version", 1))


def remove_voter(words: Words) -> tuple[Message, int]:
    voter = int(words["voter"])
    request = remove_raft_voter_request.RemoveRaftVoterRequest(
        cluster_id=_cluster_id(words), voter_id=voter, voter_directory_id=_directory_id(words, voter)
    )
    return request, 0


def update_voter(words: Words) -> tuple[Message, int]:
    voter = int(words["voter"])
    listener = update_raft_voter_request.Listener(
        name=words.get("endpoint", "CONTROLLER"), host=f"host-{voter}", port=9093
    )
    lowest, _, highest = words.get("range", "0-1").partition("-")
    request = update_raft_voter_request.UpdateRaftVoterRequest(
        cluster_id=_cluster_id(words),
        current_leader_epoch=int(words.get("epoch", 1)),
        voter_id=voter,
        voter_directory_id=_directory_id(words, voter),
        listeners=[listener],
    )
    request.kraft_version_feature.min_supported_version = int(lowest)
    request.kraft_version_feature.max_supported_version = int(highest)
    return request, 0


REQUESTS: dict[str, Callable[[Words], tuple[Message, int]]] = {
    "fetch": fetch,
    "fetch-snapshot": fetch_snapshot,
    "vote": vote,
    "begin-quorum-epoch": begin_quorum_epoch,
    "end-quorum-epoch": end_quorum_epoch,
    "describe-quorum": describe_quorum,
    "add-voter": add_voter,
    "remove-voter": remove_voter,
    "update-voter": update_voter,
}
