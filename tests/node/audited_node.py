"""A lone node whose audit entries a test reads as the lines of the file."""

from __future__ import annotations

import json
from typing import Any

from kraftctl.controller.audit.audit_trail import AuditEntry
from kraftctl.server.logs.audit_log import line_of
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.message import Message
from tests.support.active_controller import CLUSTER_ID, NODE_ID, registration
from tests.support.simulator.cluster.lone_node import LoneNode

Line = dict[str, Any]


def audited_node(*brokers: int, **properties: Any) -> LoneNode:
    """A node with an audit log and unfenced brokers; the log has no lines yet."""
    node = LoneNode(kraftctl_audit_log_path="audit.log", **properties)
    node.settle()
    for broker_id in brokers:
        node.ask(registration(broker_id), BrokerRegistrationResponse)
        epoch = node.controller.image.cluster.brokers[broker_id].epoch
        beat = BrokerHeartbeatRequest(
            broker_id=broker_id, broker_epoch=epoch, current_metadata_offset=node.raft.end_offset
        )
        assert not node.ask(beat, BrokerHeartbeatResponse).is_fenced
    node.process.audit_entries.clear()
    return node


def lines(node: LoneNode) -> list[Line]:
    """Those of the entries so far."""
    return [parsed(entry) for entry in node.process.audit_entries]


def parsed(entry: AuditEntry) -> Line:
    encoded = line_of(entry, CLUSTER_ID, NODE_ID)
    assert encoded.endswith(b"\n")
    assert encoded.count(b"\n") == 1
    line = json.loads(encoded)
    assert isinstance(line, dict)
    return line


def line_after(node: LoneNode, request: Message, version: int | None = None) -> Line:
    """The one line of a request, once it is answered."""
    node.process.audit_entries.clear()
    call = node.send(request, version)
    node.settle()
    if call not in node.answers:
        node.pass_time(1_000)  # it is decoded beside the loop
    (line,) = lines(node)
    return line
