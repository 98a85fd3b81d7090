"""Reads what a controller of kraftctl says of itself: /status.json, and the time of flushes in /metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Final

from kraftctl.explain.controller_status import NUMBER_MAX, UnusableStatusError, contacts_of, left_out_of
from kraftctl.explain.evidence import BrokerContact

FLUSH_BUCKET: Final = "kraftctl_disk_wait_seconds_bucket{"
FLUSH_LABEL: Final = 'what="FlushLog"'
BOUND: Final = 'le="'
PERCENTILE: Final = 0.99

TEXT_MAX: Final = 500
REASONS_MAX: Final = 20


@dataclass(frozen=True)
class CertificateDate:
    """The end of the first certificate of a store to expire."""

    name: str
    expires_at_ms: int


@dataclass(frozen=True)
class NodeStatus:
    """The status of one controller; `problem` says why there is none."""

    url: str
    problem: str = ""
    node_id: int = -1
    version: str = ""
    is_ready: bool = True
    reasons: tuple[str, ...] = ()
    is_active: bool = False
    epoch: int | None = None
    """The epoch of the quorum that it knows."""
    free_bytes: int | None = None
    waits_ms: int = 0
    """How long the oldest write waits for the disk."""
    flush_p99_ms: float | None = None
    certificates: tuple[CertificateDate, ...] = ()
    contacts: Mapping[int, BrokerContact] = field(default_factory=dict)
    """The brokers' contacts, on the active controller."""
    left_out_contacts: int = 0
    """The number of brokers that its status does not show."""


def node_status(
    url: str, status: Mapping[str, object] | None, metrics: str, problem: str | None
) -> NodeStatus:
    """Returns what the pages at `url` say. What is not of the expected type is not known."""
    if status is None:
        return NodeStatus(url, problem=_text(problem or "it says nothing"))
    quorum, disk = _mapping(status.get("quorum")), _mapping(status.get("disk"))
    is_active, node_id = quorum.get("is_active_controller") is True, _known(status.get("node_id"))
    reasons = status.get("reasons")
    return NodeStatus(
        url,
        node_id=-1 if node_id is None else node_id,
        version=_text(status.get("version")),
        is_ready=status.get("ready") is True,
        reasons=tuple(map(_text, reasons[:REASONS_MAX])) if isinstance(reasons, list) else (),
        is_active=is_active,
        epoch=_known(quorum.get("epoch")),
        free_bytes=_known(disk.get("free_bytes")),
        waits_ms=_known(disk.get("waits_ms")) or 0,
        flush_p99_ms=flush_p99_ms(metrics),
        certificates=tuple(_dates(_mapping(status.get("certificates")))),
        contacts=_contacts(status) if is_active else {},
        left_out_contacts=left_out_of(status) if is_active else 0,
    )


def flush_p99_ms(metrics: str) -> float | None:
    """Returns the bound below which 99 of 100 flushes since the start were; None without any, or
    beyond the last bound."""
    counts: list[tuple[float, float]] = []
    for line in metrics.splitlines():
        if not line.startswith(FLUSH_BUCKET) or FLUSH_LABEL not in line:
            continue
        bound = line.partition(BOUND)[2].partition('"')[0]
        try:
            limit, count = float(bound), float(line.rpartition(" ")[2])
        except ValueError:
            continue
        if isfinite(count) and count >= 0 and limit >= 0:
            counts.append((limit, count))
    total = max((count for _, count in counts), default=0.0)
    if not total:
        return None
    finite = [(bound, count) for bound, count in sorted(counts) if isfinite(bound)]
    bounds = [bound for bound, count in finite if count >= PERCENTILE * total]
    return bounds[0] * 1000 if bounds else None


def _dates(certificates: Mapping[str, object]) -> list[CertificateDate]:
    dates = _mapping(certificates.get("expire_at_ms"))
    known = [(name, _known(at_ms)) for name, at_ms in sorted(dates.items())]
    return [CertificateDate(_text(name), at_ms) for name, at_ms in known if at_ms is not None]


def _contacts(status: Mapping[str, object]) -> dict[int, BrokerContact]:
    try:
        return contacts_of(dict(status))
    except UnusableStatusError:
        return {}


def _mapping(value: object) -> Mapping[str, object]:
    return {str(key): each for key, each in value.items()} if isinstance(value, dict) else {}


def _known(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= NUMBER_MAX else None


def _text(value: object) -> str:
    return value[:TEXT_MAX] if isinstance(value, str) else ""
