"""Directories and settings of nodes, and the saved state of a development cluster."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from kraftctl.dev import ports as dev_ports
from kraftctl.dev.ports import accepts_connections, can_listen, free_port, give_back
from kraftctl.dev.session import PROBES_PORT, DevError, load_state, probes_address
from kraftctl.dev.settings import (
    BROKER_SETTINGS,
    random_id,
    replication_for,
    write_meta_properties,
    write_properties,
)


def test_meta_properties(tmp_path: Path) -> None:
    directory_id = write_meta_properties(tmp_path / "data", cluster_id="some-cluster", node_id=7)
    lines = (tmp_path / "data" / "meta.properties").read_text().splitlines()
    assert sorted(lines) == sorted(
        ["version=1", "cluster.id=some-cluster", "node.id=7", f"directory.id={directory_id}"]
    )


def test_properties_escape_what_java_would_take_for_an_escape(tmp_path: Path) -> None:
    write_properties(tmp_path / "file", {"b": "x\\y", "a": "1"})
    assert (tmp_path / "file").read_text() == "a=1\nb=x\\\\y\n"


def test_random_ids_are_such_as_command_lines_take() -> None:
    ids = [random_id() for _ in range(500)]
    assert len(set(ids)) == 500
    assert all(len(identifier) == 22 and identifier[0] != "-" for identifier in ids)


@pytest.mark.parametrize(
    ("brokers", "replicas", "in_sync"), [(1, "1", "1"), (2, "2", "1"), (3, "3", "2"), (5, "3", "2")]
)
def test_replication_fits_the_brokers_there_are(brokers: int, replicas: str, in_sync: str) -> None:
    settings = replication_for(brokers)
    assert settings["default.replication.factor"] == replicas
    assert settings["transaction.state.log.min.isr"] == in_sync
    assert set(settings) <= set(BROKER_SETTINGS)
    if brokers == 3:
        assert settings.items() <= BROKER_SETTINGS.items()


def test_ports() -> None:
    """A free port is free, is not returned twice, and shows when a process listens."""
    port = free_port()
    assert can_listen(port)
    assert free_port() != port
    assert not accepts_connections(port)
    with socket.create_server(("127.0.0.1", port)):
        assert not can_listen(port)
        assert accepts_connections(port)


def test_a_port_that_was_given_back_is_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setattr(dev_ports, "CANDIDATES", [port])
    with pytest.raises(OSError, match="no free port"):
        free_port()
    give_back(port)
    assert free_port() == port


def test_state_is_kept_and_grows(tmp_path: Path) -> None:
    """The same directory is the same cluster, with more brokers if asked for."""
    first = load_state(tmp_path, 1)
    more = load_state(tmp_path, 3)
    assert more.cluster_id == first.cluster_id
    assert more.controller_port == first.controller_port
    assert more.broker_ports[:1] == first.broker_ports
    assert len({more.controller_port, *more.broker_ports}) == 4
    assert load_state(tmp_path, 3) == more


def test_a_running_cluster_is_not_started_twice(tmp_path: Path) -> None:
    state = load_state(tmp_path, 1)
    with socket.create_server(("127.0.0.1", state.controller_port)):
        with pytest.raises(DevError, match=rf"{state.controller_port}.* in use: is it running already"):
            load_state(tmp_path, 1)


def test_the_port_of_the_probes_is_the_same_in_each_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While another process has it, a run takes another one and says so."""
    first = load_state(tmp_path, 1)
    assert load_state(tmp_path, 1).probes_port == first.probes_port
    address = f"http://127.0.0.1:{first.probes_port}"
    assert probes_address(first) == address
    assert capsys.readouterr().err == ""
    with socket.create_server(("127.0.0.1", first.probes_port)):
        other = probes_address(load_state(tmp_path, 1))
    port = other.rpartition(":")[2]
    assert other != address
    said = capsys.readouterr().err
    assert f"Port {first.probes_port} of the probes is in use: they are on {port} in this run" in said
    assert probes_address(load_state(tmp_path, 1)) == address


@pytest.mark.parametrize("ports", [[9092], [9092, PROBES_PORT]], ids=["free", "a-broker-has-it"])
def test_a_cluster_of_an_earlier_release_gets_a_port_of_probes(tmp_path: Path, ports: list[int]) -> None:
    ports = [free_port() if port != PROBES_PORT else port for port in ports]
    saved = {"cluster_id": random_id(), "controller_port": free_port(), "broker_ports": ports}
    (tmp_path / "cluster.json").write_text(json.dumps(saved))
    state = load_state(tmp_path, 1)
    assert state.probes_port not in [state.controller_port, *ports]
    assert load_state(tmp_path, 1) == state


def test_no_broker_takes_the_port_of_the_probes(tmp_path: Path) -> None:
    assert PROBES_PORT not in load_state(tmp_path, 20).broker_ports
