"""The steps of docs/operations/move-to-ssl.md: a quorum and its brokers move from PLAINTEXT to SSL."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev.nodes import kraftctl_command, quorum_properties, run_to_the_end
from kraftctl.dev.ports import accepts_connections
from kraftctl.dev.settings import BROKER_LISTENER, CONTROLLER_LISTENER
from tests.support.certificates import Authority, properties_of
from tests.support.processes.cluster import await_live
from tests.support.processes.kafka import Cluster, await_result, free_port, kafka
from tests.support.processes.steady_clients import SteadyClients

pytestmark = [pytest.mark.interop, pytest.mark.long]

SECURE = "SECURE"
PROTOCOLS = f"{CONTROLLER_LISTENER}:PLAINTEXT,{SECURE}:SSL,{BROKER_LISTENER}:PLAINTEXT"
CONTROLLERS, BROKERS = "CN=controller", "CN=broker"
LAG_MAX = 20
"""Records that clients of this test write while a replica is asked."""


class Move:
    """The cluster, and what its nodes get to use SSL."""

    def __init__(self, directory: Path, *, dynamic: bool) -> None:
        settings = {
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": f"User:ANONYMOUS;User:{CONTROLLERS};User:{BROKERS}",
        }
        self.cluster = Cluster(
            kafka(),
            directory / "cluster",
            controllers=3,
            dynamic=dynamic,
            controller_settings=settings,
            broker_settings=settings,
        )
        self.ports = {
            CONTROLLER_LISTENER: dict(self.cluster.controller_ports),
            SECURE: {node_id: free_port() for node_id in self.cluster.controller_ports},
        }
        authority = Authority()
        self.controller_stores = properties_of(
            authority.issue(CONTROLLERS), authority, directory / "controllers", "listener.name.secure."
        )
        self.broker_stores = properties_of(authority.issue(BROKERS), authority, directory / "brokers")

    def restart_controllers(self, *names: str) -> None:
        """One after the other, with these listeners; by the first, controllers reach each other."""
        for controller in self.cluster.controllers:
            own = {name: self.ports[name][controller.node_id] for name in names}
            controller.properties |= {
                "listeners": ",".join(f"{name}://localhost:{port}" for name, port in own.items()),
                "controller.listener.names": ",".join(names),
                "listener.security.protocol.map": PROTOCOLS,
                **self.controller_stores,
                "listener.name.secure.ssl.client.auth": "required",
                **self.quorum(names[0]),
            }
            controller.stop()
            controller.port = own[names[0]]
            controller.start()
            await_result(self.all_follow, f"all replicas follow the leader, {controller.name} too", 60.0)

    def restart_brokers(self) -> None:
        """One after the other: they reach the controllers by the new listener."""
        for broker in self.cluster.brokers:
            broker.properties |= {
                "controller.listener.names": SECURE,
                "listener.security.protocol.map": PROTOCOLS,
                **self.quorum(SECURE),
                **self.broker_stores,
            }
            broker.stop()
            broker.start()
            await_live(self.cluster, {1, 2, 3})

    def quorum(self, listener: str) -> dict[str, str]:
        return quorum_properties(self.ports[listener], dynamic=self.cluster.dynamic)

    def all_follow(self) -> bool:
        """Whether there is a leader, which all others fetch from, as brokers say."""
        rows = [line.split() for line in self.describe("--replication").splitlines() if line[:1].isdigit()]
        roles = sorted(row[-1] for row in rows if int(row[3]) <= LAG_MAX)
        return roles == ["Follower"] * 2 + ["Leader"] + ["Observer"] * 3

    def await_endpoints(self, expected: dict[str, int]) -> None:
        """How many voters have an endpoint of each name. Those of a dynamic quorum are in the log."""
        if not self.cluster.dynamic:
            return

        def are_there() -> bool:
            status = self.describe("--status")
            return {name: status.count(f'"{name}://') for name in expected} == expected

        await_result(are_there, f"endpoints of voters: {expected}")

    def describe(self, what: str) -> str:
        flags = ("--bootstrap-server", self.cluster.bootstrap_servers)
        return run_to_the_end(kraftctl_command("quorum", *flags, "describe", what), what)


@pytest.mark.parametrize("dynamic", [True, False], ids=["dynamic", "static"])
def test_a_quorum_and_its_brokers_move_to_ssl(tmp_path: Path, dynamic: bool) -> None:
    move = Move(tmp_path, dynamic=dynamic)
    with move.cluster as cluster:
        with SteadyClients(cluster.bootstrap_servers) as clients:
            clients.await_progress()
            move.restart_controllers(CONTROLLER_LISTENER, SECURE)
            move.await_endpoints({CONTROLLER_LISTENER: 3, SECURE: 3})
            clients.await_progress()
            clients.check()
        move.restart_brokers()
        with SteadyClients(cluster.bootstrap_servers, "later-") as clients:
            clients.await_progress()
            move.restart_controllers(SECURE, CONTROLLER_LISTENER)
            clients.await_progress()
            move.restart_controllers(SECURE)
            clients.await_progress()
            clients.check()
        assert not any(map(accepts_connections, move.ports[CONTROLLER_LISTENER].values()))
        move.await_endpoints({CONTROLLER_LISTENER: 0, SECURE: 3})
