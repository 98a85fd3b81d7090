"""Calls of the quorum. None of them moves the leader: an election takes seconds, and is tested elsewhere."""

from __future__ import annotations

from typing import Any

from tests.differential.call import Call, Ref
from tests.differential.calls.chooser import Chooser
from tests.differential.codec import Body
from tests.differential.sides import CLUSTER_ID

LOG = "__cluster_metadata"
LOG_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
ENDPOINTS = [{"Name": "CONTROLLER", "Host": "localhost", "Port": 1}]
OF_VOTERS: tuple[list[Body], ...] = (
    ENDPOINTS, ENDPOINTS, [], [{"Name": "X", "Host": "h", "Port": 1}],
    [{"Name": "Controller", "Host": "h", "Port": 1}],
    [*ENDPOINTS, {"Name": "controller", "Host": "", "Port": 0}],
    [*ENDPOINTS, {"Name": " ", "Host": "h", "Port": 1}],
)  # fmt: skip
"""The last one ends Kafka's process (calls/avoided.py)."""


def _log(pick: Chooser) -> str:
    return LOG if pick.often(0.95) else pick.one(("", "a", "__cluster_metadata2"))


def _cluster(pick: Chooser) -> str | None:
    return (
        pick.one((CLUSTER_ID, CLUSTER_ID, CLUSTER_ID, None)) if pick.often(0.95) else pick.one(("", "other"))
    )


def _epoch(pick: Chooser) -> Any:
    """The leader's epoch, or one before it: a later one would be joined."""
    return pick.one(
        (Ref("leader epoch"), Ref("leader epoch"), Ref("leader epoch"), 0, Ref("leader epoch", 0, -1), -1)
    )


def _directory(pick: Chooser) -> Any:
    return pick.one((Ref("directory"), Ref("directory"), pick.uuid(), "AAAAAAAAAAAAAAAAAAAAAA"))


def _replica(pick: Chooser) -> int:
    return pick.one((3000, 3001, 1, 2, -1, 3002))


def _partitions(pick: Chooser, partition: Body) -> list[Body]:
    if pick.often(0.03):
        return []
    return [partition, partition] if pick.often(0.02) else [partition]


def _index(pick: Chooser) -> int:
    return 0 if pick.often(0.96) else pick.one((1, -1))


def describe_quorum(pick: Chooser) -> list[Call]:
    body = {
        "Topics": [
            {"TopicName": _log(pick), "Partitions": _partitions(pick, {"PartitionIndex": _index(pick)})}
        ]
    }
    return [Call("DescribeQuorum", pick.version("DescribeQuorum"), body)]


def vote(pick: Chooser) -> list[Call]:
    partition = {
        "PartitionIndex": _index(pick),
        "ReplicaEpoch": _epoch(pick),
        "ReplicaId": pick.one((3001, 3001, 3000, -1, 1)),
        "ReplicaDirectoryId": _directory(pick),
        "VoterDirectoryId": _directory(pick),
        "LastOffsetEpoch": pick.one((0, 1, -1, Ref("leader epoch", 0, -1))),
        "LastOffset": pick.one((0, Ref("end"), -1, Ref("end", 0, 5))),
        "PreVote": pick.often(0.5),
    }
    body = {
        "ClusterId": _cluster(pick),
        "VoterId": pick.one((3000, 3000, -1, 3001)),
        "Topics": [{"TopicName": _log(pick), "Partitions": _partitions(pick, partition)}],
    }
    return [Call("Vote", pick.version("Vote"), body)]


def begin_quorum_epoch(pick: Chooser) -> list[Call]:
    """Another leader in the epoch of this one ends Kafka's process."""
    leader = pick.one((3000, 3001, 3001, -1))
    partition = {
        "PartitionIndex": _index(pick),
        "VoterDirectoryId": _directory(pick),
        "LeaderId": leader,
        "LeaderEpoch": _epoch(pick) if leader == 3000 else pick.one((0, -1)),
    }
    body = {
        "ClusterId": _cluster(pick),
        "VoterId": pick.one((3000, 3000, -1, 3001)),
        "Topics": [{"TopicName": _log(pick), "Partitions": _partitions(pick, partition)}],
        "LeaderEndpoints": pick.one(OF_VOTERS),
    }
    return [Call("BeginQuorumEpoch", pick.version("BeginQuorumEpoch"), body)]


def end_quorum_epoch(pick: Chooser) -> list[Call]:
    partition = {
        "PartitionIndex": _index(pick),
        "LeaderId": pick.one((3001, 3001, 3002, -1)),
        "LeaderEpoch": pick.one((0, -1)),
        "PreferredSuccessors": [3000],
        "PreferredCandidates": [{"CandidateId": 3000, "CandidateDirectoryId": _directory(pick)}],
    }
    body = {
        "ClusterId": _cluster(pick),
        "Topics": [{"TopicName": _log(pick), "Partitions": _partitions(pick, partition)}],
        "LeaderEndpoints": pick.one(OF_VOTERS),
    }
    return [Call("EndQuorumEpoch", pick.version("EndQuorumEpoch"), body)]


def fetch(pick: Chooser) -> list[Call]:
    replica = _replica(pick)
    partition = {
        "Partition": _index(pick),
        "CurrentLeaderEpoch": pick.one(
            (-1, Ref("leader epoch"), Ref("leader epoch"), 0, Ref("leader epoch", 0, 1))
        ),
        "FetchOffset": pick.one((0, 0, Ref("end"), Ref("end", 0, 1), Ref("end", 0, -1), -1, 5)),
        "LastFetchedEpoch": pick.one((-1, 0, Ref("leader epoch"), Ref("leader epoch"), 99)),
        "LogStartOffset": pick.one((-1, 0)),
        "PartitionMaxBytes": pick.one((0, 100, 1048576)),
        "ReplicaDirectoryId": pick.one(("AAAAAAAAAAAAAAAAAAAAAA", pick.uuid())),
        "HighWatermark": pick.one((2**63 - 1, -1, 0)),
    }
    topic_id = LOG_ID if pick.often(0.97) else pick.uuid()
    body = {
        "ClusterId": _cluster(pick),
        "ReplicaId": replica,
        "ReplicaState": {"ReplicaId": replica, "ReplicaEpoch": -1},
        "MaxWaitMs": pick.one((0, 10)),
        "MinBytes": pick.one((0, 1, 1)),
        "MaxBytes": pick.one((8388608, 2**31 - 1, 0, 100)),
        "SessionId": 0 if pick.often(0.95) else 7,
        "SessionEpoch": pick.one((-1, 0)),
        "Topics": [{"Topic": _log(pick), "TopicId": topic_id, "Partitions": _partitions(pick, partition)}],
    }
    return [Call("Fetch", pick.version("Fetch"), body)]


def fetch_snapshot(pick: Chooser) -> list[Call]:
    partition = {
        "Partition": _index(pick),
        "CurrentLeaderEpoch": pick.one(
            (Ref("leader epoch"), Ref("leader epoch"), 0, -1, Ref("leader epoch", 0, 1))
        ),
        "SnapshotId": {"EndOffset": pick.one((0, 5, -1, Ref("end"))), "Epoch": pick.one((0, 1, -1))},
        "Position": pick.one((0, 0, 100, -1)),
        "ReplicaDirectoryId": pick.one(("AAAAAAAAAAAAAAAAAAAAAA", pick.uuid())),
    }
    body = {
        "ClusterId": _cluster(pick),
        "ReplicaId": _replica(pick),
        "MaxBytes": pick.one((2**31 - 1, 100, 0)),
        "Topics": [{"Name": _log(pick), "Partitions": _partitions(pick, partition)}],
    }
    return [Call("FetchSnapshot", pick.version("FetchSnapshot"), body)]


def add_raft_voter(pick: Chooser) -> list[Call]:
    """One that is refused: a second voter that does not answer would stop the quorum."""
    body = {
        "ClusterId": _cluster(pick),
        "TimeoutMs": 100,
        "VoterId": 3000,
        "VoterDirectoryId": _directory(pick),
        "Listeners": pick.one(OF_VOTERS),
        "AckWhenCommitted": pick.often(0.5),
    }
    return [Call("AddRaftVoter", pick.version("AddRaftVoter"), body)]


def remove_raft_voter(pick: Chooser) -> list[Call]:
    body = {
        "ClusterId": _cluster(pick),
        "VoterId": pick.one((3001, 3000, -1)),
        "VoterDirectoryId": _directory(pick),
    }
    if body["VoterId"] == 3000:
        body["VoterDirectoryId"] = pick.uuid()
    return [Call("RemoveRaftVoter", 0, body)]


def update_raft_voter(pick: Chooser) -> list[Call]:
    body = {
        "ClusterId": _cluster(pick),
        "CurrentLeaderEpoch": _epoch(pick),
        "VoterId": pick.one((3001, 3002, -1)),
        "VoterDirectoryId": _directory(pick),
        "Listeners": pick.one(OF_VOTERS),
        "KRaftVersionFeature": {
            "MinSupportedVersion": pick.one((0, 1, 5)),
            "MaxSupportedVersion": pick.one((1, 0)),
        },
    }
    return [Call("UpdateRaftVoter", 0, body)]
