"""The registrations of brokers, and whether each is fenced or shutting down (KIP-631, KIP-841)."""

from __future__ import annotations

from typing import Any

from kraftctl_spark.history.versions.kinds import BROKERS
from kraftctl_spark.history.versions.quarantine import Quarantine, Quarantined
from kraftctl_spark.history.versions.versions import LogPlace, Versions

_PLACES = {name: place for place, name in enumerate(BROKERS.values)}
FENCE, UNFENCE = 1, -1


class Brokers:
    """The brokers. A registration replaces everything; other records change what they name."""

    def __init__(self, brokers: Versions, quarantine: Quarantine) -> None:
        self._brokers = brokers
        self._quarantine = quarantine

    def register(self, row: tuple[Any, ...], at: LogPlace) -> None:
        broker_id, epoch, fenced, leaving, incarnation_id, rack, log_dirs, cordoned, end_points, features = (
            row
        )
        fenced = fenced is not False
        leaving = bool(leaving)
        values = (
            epoch,
            _state(fenced, leaving),
            fenced,
            leaving,
            incarnation_id,
            rack,
            in_order(log_dirs),
            in_order(cordoned),
            by_name(end_points),
            by_name(features),
        )
        self._brokers.set((broker_id,), values, at)

    def change(self, row: tuple[Any, ...], at: LogPlace) -> None:
        """Applies a change. An empty list of directories, or a null list of cordoned ones, changes
        nothing.
        """
        broker_id, fenced, leaving, log_dirs, cordoned = row
        changes: dict[str, Any] = {}
        if fenced in (FENCE, UNFENCE):
            changes["fenced"] = fenced == FENCE
        if leaving == 1:
            changes["in_controlled_shutdown"] = True
        if log_dirs:
            changes["log_dirs"] = in_order(log_dirs)
        if cordoned is not None:
            changes["cordoned_log_dirs"] = in_order(cordoned)
        self._set(broker_id, changes, at)

    def fence(self, row: tuple[Any, ...], at: LogPlace) -> None:
        self._set(row[0], {"fenced": True}, at)

    def unfence(self, row: tuple[Any, ...], at: LogPlace) -> None:
        self._set(row[0], {"fenced": False}, at)

    def unregister(self, row: tuple[Any, ...], at: LogPlace) -> None:
        if not self._brokers.remove((row[0],), at):
            self._quarantine.add(_about(row[0], at))

    def _set(self, broker_id: int, changes: dict[str, Any], at: LogPlace) -> None:
        old = self._brokers.values((broker_id,))
        if old is None:
            self._quarantine.add(_about(broker_id, at))
            return
        values = list(old)
        for name, value in changes.items():
            values[_PLACES[name]] = value
        values[_PLACES["state"]] = _state(
            values[_PLACES["fenced"]], values[_PLACES["in_controlled_shutdown"]]
        )
        self._brokers.set((broker_id,), tuple(values), at)


def _about(broker_id: int, at: LogPlace) -> Quarantined:
    return Quarantined(BROKERS.name, f"broker {broker_id}", at, broker_id=broker_id)


def _state(fenced: bool, in_controlled_shutdown: bool) -> str:
    if fenced:
        return "fenced"
    return "controlled shutdown" if in_controlled_shutdown else "unfenced"


def in_order(ids: list[str] | None) -> list[str] | None:
    """Sorts a list that is a set in Kafka."""
    return None if ids is None else sorted(ids)


def by_name(structs: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """Sorts a list that is a map by name in Kafka."""
    return None if structs is None else sorted(structs, key=lambda one: str(one["name"]))
