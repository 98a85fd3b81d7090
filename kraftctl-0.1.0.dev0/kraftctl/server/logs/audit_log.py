"""AuditLog writes a line of JSON for each request that changes something; see docs/operations/audit.md."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

from kraftctl.controller.audit.audit_trail import NO_OFFSET, AuditEntry
from kraftctl.controller.audit.change_list import TEXT_LENGTH_MAX
from kraftctl.controller.results.failures import shortened
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.standard_authorizer import host_address
from kraftctl.server.logs.background_file import BackgroundFile, LeftOut
from kraftctl.server.logs.rotated_file import RotatedFile
from kraftctl_protocol.principal import KafkaPrincipal

LINE_BYTES_MAX = 64 * 1024
"""In a longer line, the changes and the names in the results are left out. Characters beyond ASCII take
six bytes."""

PRINCIPAL_LENGTH_MAX = 1_000

LEFT_OUT = "left_out"
"""The outcome in a line that only has the number of missing lines before it."""


class AuditLog:
    """Writes to a file that is not open yet. `wall_ms` is the wall clock."""

    def __init__(
        self, file: RotatedFile, *, cluster_id: str, node_id: int, wall_ms: Callable[[], int]
    ) -> None:
        self.file = BackgroundFile(file, self._left_out_line)
        self._cluster_id = cluster_id
        self._node_id = node_id
        self._wall_ms = wall_ms

    def audited(self, entry: AuditEntry) -> None:
        self.file.write(line_of(entry, self._cluster_id, self._node_id))

    def _left_out_line(self, gap: LeftOut) -> bytes:
        """Returns the line in place of those that could not be written."""
        origin = _origin(self._wall_ms(), self._cluster_id, self._node_id)
        return _encoded({**origin, "outcome": LEFT_OUT, "lines_left_out": gap.count})


def line_of(entry: AuditEntry, cluster_id: str, node_id: int) -> bytes:
    """Returns the line of one request."""
    fields = {**_origin(entry.answered_wall_ms, cluster_id, node_id), **_fields(entry)}
    line = _encoded(fields)
    if len(line) > LINE_BYTES_MAX:
        fields["changes_left_out"] = entry.changes_left_out_count + len(entry.changes)
        fields["changes"] = []
        fields["results"] = [{**result, "resources": []} for result in entry.results]
        line = _encoded(fields)
    return line


def _origin(wall_ms: int, cluster_id: str, node_id: int) -> dict[str, object]:
    return {"time": _iso(wall_ms), "time_ms": wall_ms, "cluster_id": cluster_id, "node_id": node_id}


def _fields(entry: AuditEntry) -> dict[str, object]:
    context = entry.context
    has_records = entry.first_offset != NO_OFFSET
    return {
        "leader_epoch": entry.leader_epoch,
        "received_time_ms": entry.received_wall_ms,
        "principal": _principal(context.principal),
        "token_authenticated": context.principal.token_authenticated,
        "address": host_address(context.client_address),
        "listener": context.listener,
        "client_id": _text(context.client_id),
        "forwarded_by": _forwarded_by(context.forwarded_by),
        "api": context.api.name,
        "api_version": context.version,
        "correlation_id": context.correlation_id,
        "validate_only": entry.validate_only,
        "changes": entry.changes,
        "changes_left_out": entry.changes_left_out_count,
        "outcome": entry.outcome,
        "results": entry.results,
        "first_offset": entry.first_offset if has_records else None,
        "last_offset": entry.last_offset if has_records else None,
        "failure": entry.failure,
    }


def _forwarded_by(outer: RequestContext | None) -> dict[str, object] | None:
    """Returns the envelope's sender. Kafka's brokers use their node id as its client id."""
    if outer is None:
        return None
    return {
        "principal": _principal(outer.principal),
        "address": host_address(outer.client_address),
        "client_id": _text(outer.client_id),
    }


def _principal(principal: KafkaPrincipal) -> str:
    return shortened(str(principal), PRINCIPAL_LENGTH_MAX)


def _text(text: str | None) -> str | None:
    return None if text is None else shortened(text, TEXT_LENGTH_MAX)


def _iso(wall_ms: int) -> str:
    moment = datetime.fromtimestamp(wall_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _encoded(fields: dict[str, object]) -> bytes:
    """Encodes as ASCII without control characters: no name can begin another line."""
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"
