"""Once all faults have ended, long work comes to its end: what is still missing, None if nothing is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from kraftctl.controller.replication_control.leader_acceptor import LeaderAcceptor
from kraftctl.controller.state.leaving_brokers import LeavingBrokers
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata.partition_registration import NO_LEADER, PartitionRegistration


class Work(Protocol):
    """Of QuorumController."""

    @property
    def has_work(self) -> bool: ...


def why_not_fenced(image: MetadataImage, silent: Iterable[int]) -> str | None:
    """The brokers whose sessions have run out are fenced, and in no ISR unless they are its last member."""
    gone = set(silent)
    for broker_id in sorted(gone):
        registration = image.cluster.broker(broker_id)
        if registration is not None and not registration.fenced:
            return f"broker {broker_id} is silent: {registration!r}"
    for topic in image.topics.topics.values():
        for index, partition in topic.partitions.items():
            if len(partition.isr) > 1 and not gone.isdisjoint(partition.isr):
                return f"{sorted(gone)} are silent: {topic.name}-{index} {partition!r}"
    return None


def why_not_led(image: MetadataImage) -> str | None:
    """A partition with an active replica that has all of its data has a leader."""
    acceptor = LeaderAcceptor(image.cluster, LeavingBrokers())
    for topic in image.topics.topics.values():
        for index, partition in topic.partitions.items():
            if partition.leader == NO_LEADER and _can_be_led(partition, acceptor):
                return f"{topic.name}-{index} {partition!r}"
    return None


def _can_be_led(partition: PartitionRegistration, acceptor: LeaderAcceptor) -> bool:
    return any(
        replica in partition.replicas and acceptor.accepts(partition, replica)
        for replica in (*partition.isr, *partition.elr)
    )


def why_work_is_left(controller: Work, leaving: LeavingBrokers) -> str | None:
    """Nothing is in progress, and no broker or directory is leaving."""
    if controller.has_work:
        return "work is in progress"
    if leaving._epochs or leaving._directories:
        return f"still leaving: {leaving._epochs} {leaving._directories}"
    return None


def why_not_answered(open_before: set[tuple[int, int]], open_now: set[tuple[int, int]]) -> str | None:
    """Requests, by life of the process and id, that had come when faults ended."""
    waiting = sorted(open_before & open_now)
    return f"requests wait: {waiting}" if waiting else None
