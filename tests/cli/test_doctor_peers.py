"""`kraftctl doctor` and `kraftctl health` beside real controllers: one is stopped, then a second one.

Controllers run with the directories that are examined.
"""

from __future__ import annotations

import datetime
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.settings import random_id
from kraftctl.storage.meta_properties import write_meta_properties
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.uuids import random_uuid
from tests.operate.operated_quorum import CLUSTER_ID, OperatedController, OperatedQuorum
from tests.support.certificates import Authority

pytestmark = [pytest.mark.slow, pytest.mark.timeout(200)]

Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def quorum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OperatedQuorum]:
    with OperatedQuorum(tmp_path_factory.mktemp("quorum")) as running:
        running.await_ready()
        yield running


def address(controller: OperatedController) -> str:
    return controller.properties["listeners"].removeprefix("CONTROLLER://")


class Commands:
    """Runs commands, and reads what they print."""

    def __init__(self, quorum: OperatedQuorum, capsys: pytest.CaptureFixture[str]) -> None:
        self.quorum = quorum
        self._capsys = capsys

    def health(self, *flags: str, output: str = "json") -> tuple[int, str]:
        bootstrap = ",".join(map(address, self.quorum.controllers))
        status = main(
            ["health", "--bootstrap-controllers", bootstrap, "--timeout-ms", "2000", *flags]
            + ["--output", output]
        )
        return status, self._capsys.readouterr().out

    def doctor(self, file: Path, *flags: str) -> Rows:
        main(["doctor", str(file), "--output", "json", *flags])
        found: Rows = json.loads(self._capsys.readouterr().out)["findings"]
        return found


@pytest.fixture
def commands(quorum: OperatedQuorum, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(quorum, capsys)


def levels(rows: Rows, check: str) -> list[str]:
    return [each["level"] for each in rows if each["check"] == check]


def texts(rows: Rows, check: str, level: str) -> str:
    return "\n".join(each["found"] for each in rows if (each["check"], each["level"]) == (check, level))


def test_all_is_well(commands: Commands) -> None:
    """The controllers run, with locks on their directories."""
    leader = commands.quorum.leader()
    rows = commands.doctor(leader.file)
    for check in ("identity", "addresses", "peers", "clock", "versions"):
        assert set(levels(rows, check)) == {"OK"}, rows
    assert len(levels(rows, "addresses")) == 3
    assert len(levels(rows, "clock")) == 1
    assert all(f"controller {node_id}" in texts(rows, "peers", "OK") for node_id in (1, 2, 3))
    urls = [f"http://127.0.0.1:{each.operate_port}" for each in commands.quorum.controllers]
    status, printed = commands.health("--operate", *urls)
    said = json.loads(printed)
    assert (status, said["verdict"], said["leader_id"]) == (0, "healthy", leader.node_id)
    assert sorted(said["voters"].values()) == ["follower", "follower", "leader"]
    assert said["notes"] == []


def test_one_address_names_the_others(commands: Commands, capsys: pytest.CaptureFixture[str]) -> None:
    follower = commands.quorum.followers()[0]
    assert main(["health", "--bootstrap-controllers", address(follower), "--output", "nagios"]) == 0
    assert capsys.readouterr().out.startswith("KRAFT OK - leader ")


def test_whether_the_level_can_be_raised(commands: Commands) -> None:
    (row,) = [
        each
        for each in commands.doctor(commands.quorum.leader().file, "--upgrade")
        if each["check"] == "upgrade"
    ]
    assert row["level"] == "OK"
    assert "metadata.version is " in row["found"]


def test_an_address_of_another_cluster(commands: Commands, tmp_path: Path) -> None:
    other = KraftctlController(7, tmp_path / "other", random_id(), port=free_port())
    other.format()
    other.start()
    try:
        controller = commands.quorum.leader()
        file = tmp_path / "controller.properties"
        servers = f"{address(controller)},127.0.0.1:{other.port}"
        changed = {**controller.properties, "controller.quorum.bootstrap.servers": servers}
        del changed["controller.quorum.voters"]
        file.write_text("".join(f"{key}={value}\n" for key, value in changed.items()))
        rows = commands.doctor(file)
        assert f"127.0.0.1:{other.port} is a controller of another cluster" in texts(rows, "peers", "ERROR")
        assert CLUSTER_ID in texts(rows, "peers", "ERROR")
        (step,) = [each["next_step"] for each in rows if (each["check"], each["level"]) == ("peers", "ERROR")]
        assert step == "correct the address, or mount the directory of this cluster"
        assert levels(rows, "peers").count("OK") == 1
    finally:
        other.kill()


def test_a_voter_with_the_id_of_another(commands: Commands, tmp_path: Path) -> None:
    one, two, three = commands.quorum.controllers
    voters = f"1@{address(one)},2@{address(three)},3@{address(two)}"
    file = tmp_path / "controller.properties"
    changed = {**one.properties, "controller.quorum.voters": voters}
    file.write_text("".join(f"{key}={value}\n" for key, value in changed.items()))
    wrong = texts(commands.doctor(file), "peers", "ERROR")
    assert f"{address(three)} is controller 3, not 2" in wrong
    assert f"{address(two)} is controller 2, not 3" in wrong


def test_a_listener_that_is_not_of_controllers(commands: Commands, tmp_path: Path) -> None:
    """The port of probes accepts connections, and does not speak Kafka's protocol."""
    one = commands.quorum.controllers[0]
    voters = f"1@{address(one)},2@127.0.0.1:{one.operate_port},3@no-such-host.invalid:1"
    file = tmp_path / "controller.properties"
    changed = {**one.properties, "controller.quorum.voters": voters}
    file.write_text("".join(f"{key}={value}\n" for key, value in changed.items()))
    rows = commands.doctor(file)
    assert sorted(levels(rows, "addresses")) == ["ERROR", "OK", "WARN"]
    assert "no-such-host.invalid:1 has no address" in texts(rows, "addresses", "ERROR")


def test_a_dead_voter_then_a_lost_majority(commands: Commands) -> None:
    dead, second = commands.quorum.followers()
    dead.process.kill()
    rows = commands.doctor(commands.quorum.leader().file)
    assert f"{address(dead)} does not answer" in texts(rows, "addresses", "WARN")
    status, printed = commands.health()
    said = json.loads(printed)
    assert (status, said["verdict"]) == (10, "unhealthy")
    assert [each for each in said["reasons"] if each.startswith(f"voter {dead.node_id}: it ")] == said[
        "reasons"
    ]
    survivor = commands.quorum.leader()
    second.process.kill()

    def lost() -> str | None:
        status, printed = commands.health(output="text")
        return printed if status == 10 and "no leader answers" in printed else None

    text = await_result(lost, "no leader", 60.0, 0.2)
    assert f"{address(dead)} is not reached" in text
    said_alone = (
        f"{address(survivor)} (knows no leader of|says that controller {survivor.node_id} leads) epoch"
    )
    assert re.search(said_alone, text), text
    assert commands.health(output="nagios")[0] == 2
    rows = commands.doctor(survivor.file)
    assert sorted(levels(rows, "addresses")) == ["OK", "WARN", "WARN"]
    assert levels(rows, "peers") == ["OK"], "a controller without a leader still confirms its cluster id"
    assert levels(rows, "clock") == []
    for each in (dead, second):
        each.start()
    status, printed = commands.health("--exit-when-healthy", "--wait-ms", "60000", "--interval-ms", "200")
    assert status == 0
    rounds = [json.loads(line)["verdict"] for line in printed.splitlines()]
    assert rounds[-1] == "healthy"
    assert "healthy" not in rounds[:-1]


def test_no_controller_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    assert main(["health", "--bootstrap-controllers", f"127.0.0.1:{port}", "--timeout-ms", "1000"]) == 1
    assert capsys.readouterr().out.startswith("UNKNOWN\n")


def test_a_directory_that_was_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The voter of a dynamic quorum is known by its directory; another one here does not vote."""
    with OperatedQuorum(tmp_path, 1, is_dynamic=True) as alone:
        alone.await_ready()
        (controller,) = alone.controllers
        copy = tmp_path / "copy"
        write_meta_properties(copy, MetaProperties(CLUSTER_ID, 1, random_uuid(random.Random(5))), 0)
        file = controller.file
        main(["doctor", str(file), "--override", f"log.dirs={copy}", "--output", "json"])
        rows: Rows = json.loads(capsys.readouterr().out)["findings"]
        assert "the voter 1 has directory.id" in texts(rows, "peers", "ERROR")


def test_over_ssl_with_the_keys_of_the_controller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Doctor connects as the controller does; health has properties of a client."""
    authority = Authority(valid=datetime.timedelta(days=1000))
    identity = authority.issue("CN=controller", valid=datetime.timedelta(days=90))
    keys = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(tmp_path / "keystore.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(tmp_path / "authority.pem"),
    }
    (tmp_path / "keystore.pem").write_text(identity.pem())
    (tmp_path / "authority.pem").write_text(authority.pem)

    def change(properties: dict[str, str]) -> None:
        properties |= {f"listener.name.controller.{key}": value for key, value in keys.items()}
        properties["listener.security.protocol.map"] = "CONTROLLER:SSL"
        properties["listener.name.controller.ssl.client.auth"] = "required"

    with OperatedQuorum(tmp_path, 1, change=change) as alone:
        alone.await_ready()
        (controller,) = alone.controllers
        main(["doctor", str(controller.file), "--output", "json"])
        rows: Rows = json.loads(capsys.readouterr().out)["findings"]
        assert {
            each["level"] for each in rows if each["check"] in ("addresses", "peers", "certificates")
        } == {"OK"}
        client = tmp_path / "client.properties"
        asked = ["health", "--bootstrap-controllers", address(controller), "--timeout-ms", "2000"]
        client.write_text(
            "".join(f"{key}={value}\n" for key, value in {**keys, "security.protocol": "SSL"}.items())
        )
        assert main([*asked, "--command-config", str(client)]) == 0
        assert main(asked) == 1
