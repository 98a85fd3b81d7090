"""Whole processes and the system's resolver: each name has an address in front that is of no use."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import random_id
from tests.support.processes.hosts_of_processes import may_have_hosts, with_hosts, write_hosts
from tests.support.processes.started_controller import StartedController
from tests.support.wire.bad_addresses import V4, V6, BadAddress, dropping, free_everywhere

pytestmark = [
    pytest.mark.skipif(not may_have_hosts(), reason="no mount namespace with another /etc/hosts: not root"),
    pytest.mark.slow,
]

NAMES = {1: "one.example", 2: "two.example", 3: "three.example"}
ELECTION_SECONDS_MAX = 15.0

READ = """
from kraftctl_observer.observer import QuorumObserver
observer = QuorumObserver([("{host}", {port})], timeout_s=5.0)
print(observer.cluster_id(), observer.position(0, 0).high_watermark > 0)
"""


class Controllers:
    """Behind IPv6, which the resolver prefers, is nothing good; they listen on IPv4."""

    def __init__(self, directory: Path, stack: ExitStack, kind: str) -> None:
        self.cluster_id = random_id()
        self.ports = {node_id: free_everywhere() for node_id in NAMES}
        self._directory = directory
        self._stack = stack
        hosts = write_hosts(directory / "hosts", {name: [V6, V4] for name in NAMES.values()})
        self.wrap = partial(with_hosts, hosts)
        for port in self.ports.values():
            if kind == "drops":
                stack.enter_context(dropping(V6, port))
            else:
                stack.enter_context(BadAddress(V6, port, lambda _: None))

    def address(self, node_id: int) -> str:
        return f"{NAMES[node_id]}:{self.ports[node_id]}"

    def start(self, node_id: int, quorum: dict[str, str], *format_flags: str) -> StartedController:
        file = self._directory / f"{node_id}.properties"
        properties = {
            "process.roles": "controller",
            "node.id": str(node_id),
            "controller.listener.names": "CONTROLLER",
            "listeners": f"CONTROLLER://{V4}:{self.ports[node_id]}",
            "advertised.listeners": f"CONTROLLER://{self.address(node_id)}",
            "log.dirs": str(self._directory / f"data-{node_id}"),
            **quorum,
        }
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        self.run("-m", "kraftctl", "format", "-c", str(file), "-t", self.cluster_id, *format_flags)
        started = StartedController(file, self.wrap)
        self._stack.callback(started.process.kill)
        return started

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Of Python."""
        path = os.pathsep.join(entry for entry in sys.path if entry)
        return subprocess.run(
            self.wrap([sys.executable, *arguments]),
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=30.0,
            check=False,
        )

    def describe(self, node_id: int, *flags: str) -> subprocess.CompletedProcess[str]:
        connection = ["--bootstrap-controller", self.address(node_id), *flags]
        return self.run("-m", "kraftctl", "quorum", *connection, "describe", "--status")

    def error(self, node_id: int) -> str:
        """What is said within a second when there is no leader."""
        client = self._directory / "client.properties"
        client.write_text("default.api.timeout.ms=1000\n")
        return self.describe(node_id, "--command-config", str(client)).stderr

    def status(self, node_id: int) -> str:
        """Empty without a leader."""
        return self.describe(node_id).stdout

    def await_status(self, text: str) -> str:
        """As the first controller describes the quorum, once that has the text."""
        seen: list[str] = []

        def has_text() -> bool:
            seen.append(self.status(1))
            return text in seen[-1]

        await_result(has_text, f"the quorum has {text}", ELECTION_SECONDS_MAX)
        return seen[-1]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as entered:
        yield entered


@pytest.mark.parametrize("kind", ["silent", pytest.param("drops", marks=pytest.mark.long)])
def test_two_static_voters_elect_a_leader_that_every_client_finds(
    kind: str, tmp_path: Path, stack: ExitStack
) -> None:
    controllers = Controllers(tmp_path, stack, kind)
    voters = ",".join(f"{node_id}@{controllers.address(node_id)}" for node_id in (1, 2))
    controllers.start(1, {"controller.quorum.voters": voters}).await_text("Awaiting socket connections")
    assert "does not lead, knows no leader of epoch 0" in controllers.error(1)
    controllers.start(2, {"controller.quorum.voters": voters})
    status = controllers.await_status("LeaderId:")
    assert f"ClusterId:              {controllers.cluster_id}" in status
    assert controllers.status(2) != ""
    read = controllers.run("-c", READ.format(host=NAMES[2], port=controllers.ports[2])).stdout
    assert read == f"{controllers.cluster_id} True\n"


@pytest.mark.long
@pytest.mark.parametrize("kind", ["drops", "silent"])
def test_a_controller_joins(kind: str, tmp_path: Path, stack: ExitStack) -> None:
    controllers = Controllers(tmp_path, stack, kind)
    bootstrap = {"controller.quorum.bootstrap.servers": controllers.address(1)}
    controllers.start(1, bootstrap, "--initial-controllers", f"1@{controllers.address(1)}:{random_id()}")
    controllers.start(
        3, {**bootstrap, "controller.quorum.auto.join.enable": "true"}, "--no-initial-controllers"
    )
    status = controllers.await_status('"id": 3')
    (voters,) = [line for line in status.splitlines() if line.startswith("CurrentVoters:")]
    assert '"id": 1' in voters
