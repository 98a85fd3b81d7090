"""Decides who may join an ISR (KIP-841, KIP-903)."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.state.leaving_brokers import LeavingBrokers
from kraftctl.image.cluster_image import ClusterImage
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import BrokerState

UNKNOWN_BROKER_EPOCH: Final = -1
"""The leader has not learned the replica's epoch, so it is not compared (KIP-903)."""


def why_ineligible(
    cluster: ClusterImage, leaving: LeavingBrokers, new_isr: list[BrokerState]
) -> ApiError | None:
    """Returns INELIGIBLE_REPLICA, with members and reasons, when `new_isr` would break durability.

    A leader learns of fencing late, through the metadata log. Without this check it could add a broker back
    that the controller has already fenced (KIP-841), or one that was restarted with an empty disk since the
    leader last heard of it (KIP-903).
    """
    for member in new_isr:
        if _why_member_ineligible(cluster, leaving, member) is not None:
            return _ineligible(cluster, leaving, new_isr)
    return None


def _ineligible(cluster: ClusterImage, leaving: LeavingBrokers, new_isr: list[BrokerState]) -> ApiError:
    named: list[str] = []
    for member in new_isr:
        reason = _why_member_ineligible(cluster, leaving, member)
        if reason is not None:
            named.append(f"{member.broker_id} ({reason})")
    return ApiError(Errors.INELIGIBLE_REPLICA, f"not eligible for the ISR: {', '.join(named)}")


def _why_member_ineligible(cluster: ClusterImage, leaving: LeavingBrokers, member: BrokerState) -> str | None:
    registration = cluster.brokers.get(member.broker_id)
    if registration is None:
        return "not registered"
    if registration.in_controlled_shutdown:
        return "shutting down"
    if registration.fenced:
        return "fenced"
    if leaving.has(member.broker_id, registration.epoch):
        return "about to be fenced or unregistered"
    if member.broker_epoch != UNKNOWN_BROKER_EPOCH and member.broker_epoch != registration.epoch:
        return f"broker epoch {member.broker_epoch} is not the registered {registration.epoch}"
    return None
