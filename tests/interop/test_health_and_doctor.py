"""`kraftctl health` and `kraftctl doctor` beside real brokers, and beside Kafka's own controller."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import replication_for
from tests.support.controller_properties import controller_properties, properties_file
from tests.support.processes.kafka import Cluster, kafka

pytestmark = pytest.mark.interop


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(False, id="kraftctl"),
        pytest.param(True, id="java", marks=pytest.mark.long),
    ],
)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One controller and two brokers."""
    with Cluster(
        kafka("4.3.1"),
        tmp_path_factory.mktemp("pair"),
        brokers=2,
        java_controller=request.param,
        controller_settings=replication_for(1),
        broker_settings=replication_for(1),
    ) as cluster:
        yield cluster


def test_a_doctor_of_another_node_knows_the_controller(
    pair: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host, _, port = pair.bootstrap_controllers.partition(":")
    more = {"controller.quorum.bootstrap.servers": f"{host}:{port},{pair.bootstrap_servers.split(',')[0]}"}
    file = properties_file(tmp_path, controller_properties(tmp_path, address="localhost:1", more=more))
    main(["doctor", str(file), "--output", "json"])
    rows = json.loads(capsys.readouterr().out)["findings"]
    addresses = [(each["level"], each["found"]) for each in rows if each["check"] == "addresses"]
    assert ("OK", f"{host}:{port} answers") in addresses
    assert [text for level, text in addresses if level == "ERROR" and "is no controller" in text]
    assert {each["level"] for each in rows if each["check"] in ("clock", "versions")} == {"OK"}
    (peer,) = [each for each in rows if each["check"] == "peers"]
    assert peer["level"] == "UNKNOWN", "the directory is not formatted: it has no cluster id"
    assert f"{host}:{port} is of cluster {pair.cluster_id}, " in peer["found"]


def test_a_broker_that_is_fenced(pair: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--output", "json"]
    assert main(["health", "--bootstrap-controllers", pair.bootstrap_controllers, *flags]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "healthy"
    assert main(["health", "--bootstrap-server", pair.bootstrap_servers, *flags]) == 0
    capsys.readouterr()
    stopped, left = pair.brokers
    stopped.stop()

    def fenced() -> list[str] | None:
        status = main(["health", "--bootstrap-server", left.address, *flags])
        said: list[str] = json.loads(capsys.readouterr().out)["reasons"]
        return said if status == 10 else None

    assert await_result(fenced, "unhealthy", 30.0, 0.2) == [f"broker {stopped.node_id} is fenced"]


def test_the_level_that_is_possible(pair: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    """The files of Kafka's controller have the same registrations. The first broker is stopped, and its
    leader lists it for minutes.
    """
    names = [f"broker {each.node_id} supports metadata.version up to " for each in pair.brokers]
    gone = "and it neither votes nor fetches"

    def limits() -> list[str] | None:
        main(["doctor", str(pair.controller.properties_file), "--upgrade", "--output", "json"])
        rows: list[dict[str, str]] = json.loads(capsys.readouterr().out)["findings"]
        found = [each["found"] for each in rows if each["check"] == "upgrade"]
        return found if any(each.endswith(gone) for each in found) else None

    found = await_result(limits, "the first broker is gone", 60.0, 1.0)
    assert [each.endswith(gone) for each in found if each.startswith(names[0])] == [True]
    assert [each.endswith(gone) for each in found if each.startswith(names[1])] == [False]
