"""`kraftctl cluster list-endpoints`: the brokers or the controllers of a cluster (KIP-919, KIP-1073)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraftctl_admin.admin_client import AdminClient
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterBroker

HOST_WIDTH = 100
RACK_WIDTH = 10
"""The widths of kafka-cluster for a table without nodes, and one without racks."""

STATE = 4


@dataclass(frozen=True)
class ListedEndpoints:
    """The nodes by id."""

    nodes: Sequence[DescribeClusterBroker]
    are_controllers: bool

    def text(self) -> str:
        """Returns the table of kafka-cluster, which has no STATE for controllers."""
        host_width = max([len(node.host) for node in self.nodes], default=HOST_WIDTH)
        rack_width = max([len(node.rack) for node in self.nodes if node.rack], default=RACK_WIDTH)
        rows = [("ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE"), *map(self._row, self.nodes)]
        widths = (10, host_width, 10, rack_width, 10, 15)
        lines = []
        for row in rows:
            cells = [f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)]
            if self.are_controllers:
                del cells[STATE]
            lines.append(" ".join(cells))
        return "\n".join(lines)

    def value(self) -> list[dict[str, object]]:
        """Returns the same for JSON."""
        nodes: list[dict[str, object]] = []
        for node in self.nodes:
            value: dict[str, object] = {
                "id": node.broker_id,
                "host": node.host,
                "port": node.port,
                "rack": node.rack,
                "endpointType": self._kind(),
            }
            nodes.append(value if self.are_controllers else value | {"isFenced": node.is_fenced})
        return nodes

    def _row(self, node: DescribeClusterBroker) -> tuple[str, ...]:
        rack = "null" if node.rack is None else escaped(node.rack)
        state = "fenced" if node.is_fenced else "unfenced"
        return str(node.broker_id), escaped(node.host), str(node.port), rack, state, self._kind()

    def _kind(self) -> str:
        return "controller" if self.are_controllers else "broker"


def list_endpoints(client: AdminClient, *, with_fenced: bool) -> ListedEndpoints:
    """Asks for the nodes of the kind that the client connects to. Raises AdminError."""
    response = client.describe_cluster(with_fenced=with_fenced)
    nodes = sorted(response.brokers, key=lambda node: node.broker_id)
    return ListedEndpoints(nodes, client.to_controllers)
