"""KIP-841, KIP-903: who may join an ISR, and why not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kraftctl.image.cluster_image import ClusterImage
from kraftctl_protocol.generated.alter_partition_request import BrokerState

UNKNOWN_BROKER_EPOCH: Final = -1
"""The leader has not learned the replica's epoch: do not compare (KIP-903)."""


class IneligibleReplica:
    """A member that may not be in the ISR, with the reason."""

    def __init__(self, replica_id: int, reason: str) -> None:
        self.replica_id = replica_id
        self.reason = reason

    def __repr__(self) -> str:
        return f"{self.replica_id} ({self.reason})"


def ineligible_replicas_for_isr(
    cluster: ClusterImage, new_isr: Iterable[BrokerState]
) -> list[IneligibleReplica]:
    """Members of `new_isr` that would break durability if the leader's wish were granted.

    A leader learns of fencing late, through the metadata log. Without this check it could re-admit
    a broker that the controller has already given up on (KIP-841), or one that was restarted with
    an empty disk since the leader last heard of it (KIP-903).
    """
    ineligible: list[IneligibleReplica] = []
    for member in new_isr:
        reason = _why_ineligible(cluster, member)
        if reason is not None:
            ineligible.append(IneligibleReplica(member.broker_id, reason))
    return ineligible


def _why_ineligible(cluster: ClusterImage, member: BrokerState) -> str | None:
    registration = cluster.brokers.get(member.broker_id)
    if registration is None:
        return "not registered"
    if registration.in_controlled_shutdown:
        return "shutting down"
    if registration.fenced:
        return "fenced"
    if member.broker_epoch != UNKNOWN_BROKER_EPOCH and member.broker_epoch != registration.epoch:
        return f"broker epoch {member.broker_epoch} is not the registered {registration.epoch}"
    return None
