"""The quorum as its leader describes it, after Kafka's QuorumInfo (KIP-595, KIP-836, KIP-853)."""

from __future__ import annotations

from dataclasses import dataclass

from kraftctl.explain.commit_watch import CommitWatch
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest, TopicData
from kraftctl_protocol.generated.describe_quorum_request import PartitionData as PartitionIndex
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse, PartitionData
from kraftctl_protocol.generated.describe_quorum_response import ReplicaState as DescribedReplica
from kraftctl_protocol.metadata_topic import METADATA_PARTITION, METADATA_TOPIC

UNKNOWN_TIMESTAMP = -1


@dataclass(frozen=True)
class VoterEndpoint:
    """The address at which a voter listens."""

    listener: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return escaped(f"{self.listener}://{host}:{self.port}").replace('"', "\\x22")


@dataclass(frozen=True)
class QuorumReplica:
    """A replica as the leader knows it; the times are Unix times on the leader's clock.

    `log_end_offset` is exclusive, and -1 before the first fetch. `last_caught_up_ms` is when the replica had
    everything the leader had at that time.
    """

    replica_id: int
    directory_id: bytes
    log_end_offset: int
    last_fetch_ms: int | None
    last_caught_up_ms: int | None


@dataclass(frozen=True)
class QuorumInfo:
    """The quorum; `endpoints` has the voters, and a release before 3.9 reports none."""

    leader_id: int
    leader_epoch: int
    high_watermark: int
    voters: tuple[QuorumReplica, ...]
    observers: tuple[QuorumReplica, ...]
    endpoints: dict[int, tuple[VoterEndpoint, ...]]

    @property
    def log_end_offset(self) -> int:
        """The end of the leader's log, exclusive; the high watermark while the leader is no voter."""
        ends = [each.log_end_offset for each in self.voters if each.replica_id == self.leader_id]
        return max([self.high_watermark, *ends])

    def uncommitted_ms(self, watch: CommitWatch, now_ms: int) -> int:
        """Returns for how long `watch` has seen records that are not committed, this look included."""
        return watch.note(
            epoch=self.leader_epoch,
            end_offset=self.log_end_offset,
            high_watermark=self.high_watermark,
            now_ms=now_ms,
        )

    def leader(self) -> QuorumReplica:
        """Returns the leader. Raises AdminError while it is not a voter: it has removed itself, and
        resigns soon.
        """
        for voter in self.voters:
            if voter.replica_id == self.leader_id:
                return voter
        raise AdminError(
            f"The leader {self.leader_id} of epoch {self.leader_epoch} is no voter. Next step: try again when"
            " the voters have elected another leader."
        )


def describe_quorum(client: AdminClient) -> QuorumInfo:
    """Asks the leader for its view. Raises AdminError."""
    return quorum_info_of(client.call(quorum_request(), DescribeQuorumResponse, error_in))


def quorum_request() -> DescribeQuorumRequest:
    """Returns a request about the metadata partition."""
    partition = PartitionIndex(partition_index=METADATA_PARTITION)
    return DescribeQuorumRequest(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])


def quorum_info_of(response: DescribeQuorumResponse) -> QuorumInfo:
    """Returns the quorum of a response without an error."""
    partition = _only_partition(response)
    assert partition is not None
    return QuorumInfo(
        leader_id=partition.leader_id,
        leader_epoch=partition.leader_epoch,
        high_watermark=partition.high_watermark,
        voters=tuple(_replica(replica) for replica in partition.current_voters),
        observers=tuple(_replica(replica) for replica in partition.observers),
        endpoints={
            node.node_id: tuple(
                VoterEndpoint(listener.name, listener.host, listener.port) for listener in node.listeners
            )
            for node in response.nodes
        },
    )


def error_in(response: DescribeQuorumResponse) -> tuple[Errors, str | None]:
    """Returns the first error of a response, and its message."""
    if response.error_code != Errors.NONE:
        return error_of(response.error_code), response.error_message
    partition = _only_partition(response)
    if partition is None:
        return Errors.UNKNOWN_SERVER_ERROR, f"the response does not describe {METADATA_TOPIC} alone"
    return error_of(partition.error_code), partition.error_message


def _only_partition(response: DescribeQuorumResponse) -> PartitionData | None:
    """Returns the metadata partition, if the response is about nothing else."""
    if len(response.topics) != 1 or response.topics[0].topic_name != METADATA_TOPIC:
        return None
    partitions = response.topics[0].partitions
    if len(partitions) != 1 or partitions[0].partition_index != METADATA_PARTITION:
        return None
    return partitions[0]


def _replica(described: DescribedReplica) -> QuorumReplica:
    return QuorumReplica(
        replica_id=described.replica_id,
        directory_id=described.replica_directory_id,
        log_end_offset=described.log_end_offset,
        last_fetch_ms=_known(described.last_fetch_timestamp),
        last_caught_up_ms=_known(described.last_caught_up_timestamp),
    )


def _known(timestamp_ms: int) -> int | None:
    return None if timestamp_ms == UNKNOWN_TIMESTAMP else timestamp_ms
