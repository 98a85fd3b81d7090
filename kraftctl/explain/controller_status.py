"""Reads what /status.json of the active controller says of brokers: when each was heard of."""

from __future__ import annotations

from typing import Final

from kraftctl.explain.evidence import BrokerContact
from kraftctl.explain.mark import age_text
from kraftctl.explain.replayed_log import ReplayedLog

NUMBER_MAX: Final = 2**63 - 1
"""Numbers in records have 64 bits."""

APART_MS_MAX: Final = 10_000
"""A leader writes a NoOpRecord twice a second, and a status is read a moment before the log or after it."""


class UnusableStatusError(Exception):
    """The document is not the status of an active controller."""


def contacts_of(status: object) -> dict[int, BrokerContact]:
    """Returns the contacts by broker. Raises UnusableStatusError with the reason."""
    if not isinstance(status, dict) or not isinstance(status.get("brokers"), list):
        raise UnusableStatusError("it is not what /status.json of a controller of kraftctl returns")
    quorum = status.get("quorum")
    if not isinstance(quorum, dict) or quorum.get("is_active_controller") is not True:
        raise UnusableStatusError(
            "it is not of the active controller, the only one that brokers send heartbeats"
        )
    found: dict[int, BrokerContact] = {}
    for broker in status["brokers"]:
        if not isinstance(broker, dict) or not isinstance(broker.get("id"), int):
            raise UnusableStatusError("a broker in it has no id")
        found[broker["id"]] = BrokerContact(
            _known(broker.get("heartbeat_age_ms")), _known(broker.get("metadata_offset"))
        )
    return found


def why_of_another_time(status: object, log: ReplayedLog) -> str:
    """Returns why a status does not describe what a log has; empty if it does, or if neither says when it is.

    Ages in it count from its own time, and only the active controller of its epoch has them. Both times are
    on the clock of that controller.
    """
    quorum = status.get("quorum") if isinstance(status, dict) else None
    if not isinstance(status, dict) or not isinstance(quorum, dict):
        return ""
    epoch, at_ms = _known(quorum.get("epoch")), _known(status.get("wall_ms"))
    if epoch is not None and log.leader_epoch >= 0 and epoch != log.leader_epoch:
        return (
            f"it is of epoch {epoch}, and the log of epoch {log.leader_epoch}, in which controller"
            f" {log.leader_id} leads"
        )
    if at_ms is None or quorum.get("high_watermark") == log.end_offset:
        return ""
    apart_ms = at_ms - log.last_timestamp_ms
    if abs(apart_ms) <= APART_MS_MAX:
        return ""
    return (
        f"it is {age_text(abs(apart_ms))} {'newer' if apart_ms > 0 else 'older'} than the log that was read"
    )


def left_out_of(status: object, what: str = "brokers") -> int:
    """Returns how many entries a list of the status does not show."""
    left_out = status.get("left_out") if isinstance(status, dict) else None
    count = left_out.get(what) if isinstance(left_out, dict) else None
    return count if isinstance(count, int) and 0 < count <= NUMBER_MAX else 0


def _known(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value <= NUMBER_MAX else None
