"""A started controller without a majority says why, with real sockets: once, and what its end is."""

from __future__ import annotations

import random
from pathlib import Path

from kraftctl.storage.meta_properties import write_meta_properties
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.uuids import random_uuid
from tests.cli.test_start import CLUSTER_ID, free_port
from tests.support.processes.started_controller import StartedController

LISTENER = "CONTROLLER"


def properties(directory: Path, node_id: int, ports: list[int]) -> Path:
    """One of static voters 1, 2, 3, with timeouts that a test can wait for."""
    meta = MetaProperties(CLUSTER_ID, node_id, random_uuid(random.Random(node_id)))
    write_meta_properties(directory / "data", meta, wall_ms=0)
    voters = ",".join(f"{voter_id}@127.0.0.1:{port}" for voter_id, port in enumerate(ports, 1))
    lines = {
        "process.roles": "controller",
        "node.id": str(node_id),
        "controller.listener.names": LISTENER,
        "listeners": f"{LISTENER}://127.0.0.1:{ports[node_id - 1]}",
        "controller.quorum.voters": voters,
        "controller.quorum.election.timeout.ms": "200",
        "controller.quorum.fetch.timeout.ms": "400",
        "log.dirs": str(directory / "data"),
    }
    file = directory / "controller.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    return file


def test_two_of_three_are_missing_and_one_of_them_comes_back(tmp_path: Path) -> None:
    ports = [free_port() for _ in range(3)]
    directories = [tmp_path / str(node_id) for node_id in (1, 2)]
    for directory in directories:
        directory.mkdir()
    files = [properties(directory, node_id, ports) for node_id, directory in enumerate(directories, 1)]
    first = StartedController(files[0])
    second: StartedController | None = None
    try:
        seen = first.await_text(r"WARN.*No leader can be elected for .*\n")
        warning = seen.splitlines()[-1]
        assert "1 of 3 voters can be reached from controller 1:" in warning
        for node_id in (2, 3):
            address = f"controller {node_id} at 127.0.0.1:{ports[node_id - 1]}"
            assert f"{address}: connection refused" in warning
        assert "Next step: start the controllers that refuse connections" in warning
        second = StartedController(files[1])
        seen = first.await_text(r"makes progress again, after .*\n")
        assert seen.count("No leader can be elected") <= 2, "one more when the other answers"
    finally:
        first.stop()
        if second is not None:
            second.stop()
