"""Replicas of new partitions, placed or assigned by hand, turned into PartitionRecords."""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from kraftctl.controller.replication_control.leader_acceptor import is_staying
from kraftctl.controller.replication_control.partition_change_builder import default_directory_of
from kraftctl.controller.state.leaving_brokers import LeavingBrokers
from kraftctl.image.cluster_image import ClusterImage
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata import features
from kraftctl.metadata.leader_recovery_state import RECOVERED
from kraftctl.metadata.replica_placement import StripedReplicaPlacer, UsableBroker, why_not_placeable
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid

PARTITIONS_PER_REQUEST_MAX: Final = 10_000
"""Kafka's ReplicationControlManager.MAX_PARTITIONS_PER_BATCH: one request may not exhaust memory."""


def usable_brokers(cluster: ClusterImage, leaving: LeavingBrokers) -> list[UsableBroker]:
    """Returns brokers that may get replicas: registered, not shutting down, with a directory not cordoned.

    A broker whose fencing has begun counts as fenced. One that has shut down is fenced, and may get replicas.
    """
    return [
        UsableBroker(broker.id, broker.rack, broker.fenced or leaving.has(broker.id, broker.epoch))
        for broker_id, broker in sorted(cluster.brokers.items())
        if (broker.fenced or not broker.in_controlled_shutdown) and broker.has_uncordoned_directories()
    ]


def place_replicas(
    placer: StripedReplicaPlacer, *, partition_count: int, replication_factor: int
) -> list[list[int]] | ApiError:
    """Returns the replicas of each partition of a topic, or INVALID_REPLICATION_FACTOR."""
    reason = why_not_placeable(placer.brokers, replication_factor)
    if reason is not None:
        return ApiError(Errors.INVALID_REPLICATION_FACTOR, reason)
    return placer.place(partition_count, replication_factor)


def why_assignment_invalid(
    cluster: ClusterImage, replicas: list[int], replication_factor: int | None
) -> ApiError | None:
    """Returns INVALID_REPLICA_ASSIGNMENT unless `replicas` are distinct registered brokers with a
    directory that is not cordoned (KIP-1066), as many as the others.
    """
    if not replicas:
        return _invalid("The replicas given for a partition are an empty list.")
    if len(replicas) > len(cluster.brokers):
        return _invalid(
            f"The replicas given for a partition are {len(replicas)}, and {len(cluster.brokers)} brokers are"
            " registered."
        )
    previous: int | None = None
    for broker_id in sorted(replicas):
        if broker_id not in cluster.brokers:
            return _invalid(
                f"The manual partition assignment includes broker {broker_id}, "
                "but no such broker is registered."
            )
        if broker_id == previous:
            return _invalid(
                f"The manual partition assignment includes the broker {broker_id} more than once."
            )
        if not cluster.brokers[broker_id].has_uncordoned_directories():
            return _invalid(f"broker {broker_id} of the assignment has cordoned all its log directories")
        previous = broker_id
    if replication_factor is not None and len(replicas) != replication_factor:
        return _invalid(
            f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but "
            f"this is not consistent with previous partitions, which have {replication_factor} replica(s)."
        )
    return None


def _invalid(reason: str) -> ApiError:
    return ApiError(Errors.INVALID_REPLICA_ASSIGNMENT, reason)


def active_replicas(cluster: ClusterImage, leaving: LeavingBrokers, replicas: list[int]) -> list[int]:
    """The ISR of a new partition: replicas that are unfenced and not shutting down, in order (KIP-841)."""
    active: list[int] = []
    for broker_id in replicas:
        registration = cluster.brokers.get(broker_id)
        if registration is not None and is_staying(registration, leaving):
            active.append(broker_id)
    return active


@mypyc_attr(acyclic=True)
class _Host:
    """The facts about a broker for each new partition that has a replica on it."""

    def __init__(self, active: bool, directory: Uuid) -> None:
        self.active = active
        self.directory = directory


class NewPartitions:
    """Makes the records of new partitions in one image: make another one after the image has changed.

    A broker is looked up once: uncompiled, that takes 2 us off the 18 of a partition in a large topic.
    """

    def __init__(self, image: MetadataImage, leaving: LeavingBrokers) -> None:
        self._cluster = image.cluster
        self._leaving = leaving
        self._metadata_version = image.features.metadata_version
        self._version = features.partition_record_version(self._metadata_version)
        self._has_directories = features.is_directory_assignment_supported(self._metadata_version)
        self._hosts: dict[int, _Host] = {}
        self._no_brokers: list[int] = []

    def record(self, topic_id: Uuid, partition_id: int, replicas: list[int]) -> RecordAndVersion:
        """Returns a new partition: the first replica in sync leads, both epochs are 0. A replica is active.

        Equal lists are one list: each of them costs an allocation, and time of the cyclic collector.
        """
        active_count = 0
        directories: list[Uuid] = []
        for replica in replicas:
            host = self._hosts.get(replica)
            if host is None:
                host = self._look_at(replica)
            if host.active:
                active_count += 1
            if self._has_directories:
                directories.append(host.directory)
        isr = replicas
        if active_count < len(replicas):
            isr = [replica for replica in replicas if self._hosts[replica].active]
        record = PartitionRecord(
            partition_id=partition_id,
            topic_id=topic_id,
            replicas=replicas,
            isr=isr,
            removing_replicas=self._no_brokers,
            adding_replicas=self._no_brokers,
            leader=isr[0],
            leader_recovery_state=RECOVERED,
            leader_epoch=0,
            partition_epoch=0,
            directories=directories,
        )
        return RecordAndVersion(record, self._version)

    def _look_at(self, broker_id: int) -> _Host:
        active = len(active_replicas(self._cluster, self._leaving, [broker_id])) > 0
        host = _Host(active, default_directory_of(self._cluster, broker_id, self._metadata_version))
        self._hosts[broker_id] = host
        return host
