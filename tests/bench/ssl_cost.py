"""What SSL costs a controller beside PLAINTEXT: heartbeats, connections, memory.

`make bench-ssl`, or `ssl_cost.py [--heartbeats N] [--connections N]`: controllers of one node as processes,
and a client in this one. Times are processor time of the controller, besides those that say otherwise.
"""

from __future__ import annotations

import argparse
import ssl
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import CONTROLLER_LISTENER, random_id
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_security.config_values import ConfigValues
from kraftctl_security.tls.contexts import client_context
from kraftctl_security.tls.ssl_config import read_client_ssl_config
from tests.bench.measure import processor_time_s
from tests.bench.table import Row, render
from tests.support.certificates import Authority, properties_of
from tests.support.wire.controller_client import ControllerClient, StandInBroker

PLAINTEXT = "PLAINTEXT"
KEYS = ("RSA", "EC")
IDLE_CONNECTIONS = 500
VERSIONS = ApiVersionsRequest(client_software_name="bench", client_software_version="1")


@dataclass
class Cost:
    """Of one kind of listener."""

    heartbeat_us: float
    heartbeat_wall_us: float
    connection_us: float
    connections_per_s: float
    connection_kib: float


def measure(directory: Path, kind: str, heartbeats: int, connections: int) -> Cost:
    """A controller that uses PLAINTEXT, or SSL with keys of this kind on both sides."""
    settings: dict[str, str] = {}
    context: ssl.SSLContext | None = None
    if kind != PLAINTEXT:
        authority = Authority()
        controller = properties_of(
            authority.issue("CN=controller", kind=kind), authority, directory / f"{kind}-controller"
        )
        client = properties_of(
            authority.issue("CN=client", kind=kind), authority, directory / f"{kind}-client"
        )
        settings = {
            "listener.security.protocol.map": f"{CONTROLLER_LISTENER}:SSL",
            "ssl.client.auth": "required",
            **controller,
        }
        context = client_context(read_client_ssl_config(ConfigValues(client)))
    cluster_id = random_id()
    node = KraftctlController(3000, directory / kind, cluster_id, properties=settings)
    node.format()
    node.start()
    try:
        return _measured(node, cluster_id, context, heartbeats, connections)
    finally:
        node.kill()


def _measured(
    node: KraftctlController,
    cluster_id: str,
    context: ssl.SSLContext | None,
    heartbeats: int,
    connections: int,
) -> Cost:
    assert node.process is not None
    pid = node.process.pid
    with ControllerClient(node.port, ssl_context=context) as client:
        broker = StandInBroker(client, 1, cluster_id)
        await_result(broker.register, "the controller is active")
        await_result(broker.is_unfenced, "the broker is unfenced")
        for _ in range(heartbeats // 10):
            broker.heartbeat()
        began, used = time.perf_counter(), processor_time_s(pid)
        for _ in range(heartbeats):
            broker.heartbeat()
        heartbeat_wall_s, heartbeat_s = time.perf_counter() - began, processor_time_s(pid) - used

    began, used = time.perf_counter(), processor_time_s(pid)
    for _ in range(connections):
        with ControllerClient(node.port, ssl_context=context) as client:
            client.call(VERSIONS, 3, ApiVersionsResponse)
    connection_wall_s, connection_s = time.perf_counter() - began, processor_time_s(pid) - used

    before = node.resident_bytes()
    idle = [ControllerClient(node.port, ssl_context=context) for _ in range(IDLE_CONNECTIONS)]
    for one in idle:
        one.call(VERSIONS, 3, ApiVersionsResponse)
    held = node.resident_bytes() - before
    for one in idle:
        one.close()
    return Cost(
        heartbeat_us=heartbeat_s / heartbeats * 1e6,
        heartbeat_wall_us=heartbeat_wall_s / heartbeats * 1e6,
        connection_us=connection_s / connections * 1e6,
        connections_per_s=connections / connection_wall_s,
        connection_kib=held / IDLE_CONNECTIONS / 1024,
    )


def rows(plaintext: Cost, secured: dict[str, Cost]) -> list[Row]:
    """SSL with each kind of key, compared with PLAINTEXT."""
    found: list[Row] = []
    for kind, cost in secured.items():
        for what, measured, compared, unit in (
            ("a heartbeat", cost.heartbeat_us, plaintext.heartbeat_us, "us"),
            (
                "a heartbeat and its response, elapsed",
                cost.heartbeat_wall_us,
                plaintext.heartbeat_wall_us,
                "us",
            ),
            ("a connection and one request", cost.connection_us, plaintext.connection_us, "us"),
            ("memory of an idle connection", cost.connection_kib, plaintext.connection_kib, "KiB"),
        ):
            found.append(Row(f"SSL, {kind}: {what}", measured, unit, PLAINTEXT, compared))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--heartbeats", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=1_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        costs = {
            kind: measure(Path(directory), kind, options.heartbeats, options.connections)
            for kind in (PLAINTEXT, *KEYS)
        }
    print(render(rows(costs[PLAINTEXT], {kind: costs[kind] for kind in KEYS})))
    for kind, cost in costs.items():
        print(f"{kind}: {cost.connections_per_s:.0f} connections per second, one client after the other")
    return 0


if __name__ == "__main__":
    sys.exit(main())
