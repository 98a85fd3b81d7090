"""KIP-497, KIP-631: only the registered incarnation of a broker may send requests."""

from __future__ import annotations

from kraftctl.image.cluster_image import ClusterImage
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors


def why_epoch_stale(cluster: ClusterImage, broker_id: int, broker_epoch: int) -> ApiError | None:
    """Returns STALE_BROKER_EPOCH unless `broker_epoch` is that of the registered incarnation."""
    registration = cluster.brokers.get(broker_id)
    if registration is None:
        return ApiError(Errors.STALE_BROKER_EPOCH, f"broker {broker_id} is not registered")
    if registration.epoch != broker_epoch:
        reason = f"broker {broker_id} has epoch {registration.epoch}, the request says {broker_epoch}"
        return ApiError(Errors.STALE_BROKER_EPOCH, reason)
    return None
