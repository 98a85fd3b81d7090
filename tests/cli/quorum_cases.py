"""Quorums, as answers of a scripted controller, and the arguments with which they are described."""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.describe_quorum_response import (
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from kraftctl_protocol.uuids import ZERO_UUID
from tests.support.wire.scripted_node import ScriptedNode, Versions

CLUSTER_ID = "V50AZlDfQ6SyNYSsdWVE0A"
LEADER_TIME_MS = 1_790_000_000_000


def directory_id(number: int) -> bytes:
    return number.to_bytes(2, "big") * 8


@dataclass(frozen=True)
class Replica:
    """`behind_ms`: how long ago it fetched and was caught up; None is never."""

    id: int
    end_offset: int
    behind_ms: int | None = 0
    directory: bytes | None = None

    def described(self) -> ReplicaState:
        time_ms = -1 if self.behind_ms is None else LEADER_TIME_MS - self.behind_ms
        return ReplicaState(
            replica_id=self.id,
            replica_directory_id=directory_id(self.id) if self.directory is None else self.directory,
            log_end_offset=self.end_offset,
            last_fetch_timestamp=time_ms,
            last_caught_up_timestamp=time_ms,
        )


@dataclass
class ScriptedQuorum:
    """What the leader answers; a test may change it between requests."""

    leader_id: int
    voters: list[Replica]
    observers: list[Replica] = field(default_factory=list)
    hosts: dict[int, list[tuple[str, str, int]]] = field(default_factory=dict)
    high_watermark: int = 90
    error: Errors = Errors.NONE
    add_error: Errors = Errors.NONE
    remove_error: Errors = Errors.NONE

    def described(self) -> DescribeQuorumResponse:
        partition = PartitionData(
            partition_index=0,
            error_code=self.error,
            error_message=None,
            leader_id=self.leader_id,
            leader_epoch=7,
            high_watermark=self.high_watermark,
            current_voters=[replica.described() for replica in self.voters],
            observers=[replica.described() for replica in self.observers],
        )
        nodes = [
            Node(
                node_id=node_id,
                listeners=[Listener(name=name, host=host, port=port) for name, host, port in hosts],
            )
            for node_id, hosts in self.hosts.items()
        ]
        topic = TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
        return DescribeQuorumResponse(error_message=None, topics=[topic], nodes=nodes)


def leader_node(quorum: ScriptedQuorum, versions: Versions | None = None) -> ScriptedNode:
    """The leader of a quorum, who is the only controller that can be reached."""
    node = ScriptedNode({}, versions)

    def described_cluster(_: Message) -> Message:
        controllers = [DescribeClusterBroker(broker_id=quorum.leader_id, host="127.0.0.1", port=node.port)]
        return DescribeClusterResponse(
            endpoint_type=2, cluster_id=CLUSTER_ID, controller_id=quorum.leader_id, brokers=controllers
        )

    node.script.update(
        {
            DescribeClusterRequest: described_cluster,
            DescribeQuorumRequest: lambda _: quorum.described(),
            AddRaftVoterRequest: lambda _: AddRaftVoterResponse(
                error_code=quorum.add_error, error_message=None
            ),
            RemoveRaftVoterRequest: lambda _: RemoveRaftVoterResponse(
                error_code=quorum.remove_error, error_message=None
            ),
        }
    )
    return node


@dataclass(frozen=True)
class Case:
    quorum: ScriptedQuorum
    versions: Versions = field(default_factory=dict)


UNKNOWN_TO_OLDER_RELEASES = ScriptedQuorum(
    1,
    [Replica(1, 9, None, ZERO_UUID), Replica(2, 7, None, ZERO_UUID)],
    [Replica(5, 9, None, ZERO_UUID)],
)

CASES = {
    "one-voter": Case(
        ScriptedQuorum(3000, [Replica(3000, 90)], hosts={3000: [("CONTROLLER", "host", 9093)]})
    ),
    "three-voters-and-observers": Case(
        ScriptedQuorum(
            2,
            [Replica(1, 88, 1_200), Replica(2, 100_000), Replica(3, 88, 700)],
            [Replica(101, 99_999, 30), Replica(4, -1, None)],
            {
                1: [("CONTROLLER", "one.example", 9093)],
                2: [("CONTROLLER", "::1", 9094), ("SECOND", "two", 1)],
                3: [("CONTROLLER", "10.0.0.3", 19095)],
            },
        )
    ),
    "a-voter-that-never-fetched": Case(ScriptedQuorum(2, [Replica(1, -1, None), Replica(2, 9)])),
    "all-voters-at-the-same-offset": Case(
        ScriptedQuorum(3, [Replica(1, 9, 5), Replica(2, 9, 4), Replica(3, 9)])
    ),
    "before-directory-ids": Case(
        ScriptedQuorum(1, [Replica(1, 9, 0, ZERO_UUID), Replica(2, 7, 3, ZERO_UUID)]),
        {DescribeQuorumRequest: (0, 1)},
    ),
    "before-timestamps": Case(UNKNOWN_TO_OLDER_RELEASES, {DescribeQuorumRequest: (0, 0)}),
}
