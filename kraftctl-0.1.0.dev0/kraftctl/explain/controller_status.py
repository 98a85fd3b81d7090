"""Reads what /status.json of the active controller says of brokers: when each was heard of."""

from __future__ import annotations

from typing import Final

from kraftctl.explain.evidence import BrokerContact

NUMBER_MAX: Final = 2**63 - 1
"""Numbers in records have 64 bits."""


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


def left_out_of(status: object, what: str = "brokers") -> int:
    """Returns how many entries a list of the status does not show."""
    left_out = status.get("left_out") if isinstance(status, dict) else None
    count = left_out.get(what) if isinstance(left_out, dict) else None
    return count if isinstance(count, int) and 0 < count <= NUMBER_MAX else 0


def _known(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value <= NUMBER_MAX else None
