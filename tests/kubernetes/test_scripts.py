"""The scripts of the chart with a `kraftctl` that says what it is given: when they format, wait and stop."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from kraftctl.dev.nodes import kraftctl_command
from tests.kubernetes.kubernetes_tools import CHART
from tests.support.controller_properties import controller_properties, properties_file

FAKE = """#!/bin/sh
case "$*" in
  quorum*)
    cat "{directory}/says"
    status=$(cat "{directory}/status")
    # The second time, it says what comes then.
    if [ -e "{directory}/then" ]; then mv "{directory}/then" "{directory}/says"; fi
    exit "$status"
    ;;
esac
echo "$@"
"""

ENDED_SECONDS_MAX = 30.0

NEW = "  a:1 does not lead, knows no leader of epoch 0\n"
OTHER_NEW = "  b:1 (10.0.0.2) does not lead, knows no leader of epoch 0\n"
UNREACHED = "  b:1 is not reached: DNS: Name or service not known\n"
NO_LEADER = "  b:1 does not lead, knows no leader of epoch 7\n"
FOLLOWER = "  a:1 does not lead, says that controller 3001 leads epoch 10, at b:1\n"

FIRST, JOINS = "--standalone", "--no-initial-controllers"


def given(directory: Path, says: str, status: int, **variables: str) -> dict[str, str]:
    """Returns the variables of a script, whose `kraftctl` says this."""
    program = directory / "kraftctl"
    program.write_text(FAKE.format(directory=directory))
    program.chmod(0o755)
    (directory / "says").write_text(says)
    (directory / "status").write_text(str(status))
    return {
        "PATH": f"{directory}:/usr/bin:/bin",
        "NODE_ID": "3000",
        "FIRST_NODE_ID": "3000",
        "CLUSTER_ID": "id",
        "CONTROLLERS": "self:1,a:1,b:1",
        "OTHER_CONTROLLERS": "a:1,b:1",
        "EXISTING_QUORUM": "",
        "CONFIG_DIRECTORY": "/etc/kraftctl",
        "LOG_DIRECTORY": str(directory / "data"),
        "RESTART_GATE_SECONDS": "0",
        "CONTAINER_LOG": str(directory / "log"),
        **variables,
    }


def run(script: str, directory: Path, says: str, status: int, **variables: str) -> tuple[int, str, str]:
    done = subprocess.run(
        ["sh", str(CHART / "files" / script)],
        env=given(directory, says, status, **variables),
        capture_output=True,
        text=True,
        timeout=30.0,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("says", "status", "variables", "quorum"),
    [
        pytest.param(NEW + OTHER_NEW, 1, {}, FIRST, id="no-other-knows-a-quorum"),
        pytest.param("LeaderId: 3001\n", 0, {}, JOINS, id="there-is-a-leader"),
        pytest.param(NEW + NO_LEADER, 1, {}, JOINS, id="one-knows-a-quorum-without-a-leader"),
        pytest.param(FOLLOWER + UNREACHED, 1, {}, JOINS, id="one-names-a-leader-that-is-not-reached"),
        pytest.param(NEW + OTHER_NEW, 1, {"NODE_ID": "3001"}, JOINS, id="another-one"),
        pytest.param(NEW + OTHER_NEW, 1, {"EXISTING_QUORUM": "c:1"}, JOINS, id="beside-others"),
        pytest.param("", 1, {"OTHER_CONTROLLERS": ""}, FIRST, id="alone"),
    ],
)
def test_a_volume_is_formatted(
    says: str, status: int, variables: dict[str, str], quorum: str, tmp_path: Path
) -> None:
    expected = f"format --cluster-id=id -c /etc/kraftctl/controller.properties {quorum}\n"
    assert run("format.sh", tmp_path, says, status, **variables) == (0, expected, "")


@pytest.mark.parametrize(
    ("then", "quorum"),
    [pytest.param(NEW + OTHER_NEW, FIRST, id="new"), pytest.param(NEW + NO_LEADER, JOINS, id="not-new")],
)
def test_the_first_one_waits_for_all_answers(then: str, quorum: str, tmp_path: Path) -> None:
    (tmp_path / "then").write_text(then)
    status, said, waited = run("format.sh", tmp_path, NEW + UNREACHED, 1)
    assert (status, said.split()[-1]) == (0, quorum)
    assert waited.startswith("waiting until b:1 says that it knows of no quorum")


def test_one_that_waits_ends_when_its_pod_is_deleted(tmp_path: Path) -> None:
    """As process 1 of a container, which ignores a signal without a handler."""
    command = ["unshare", "--pid", "--fork", "--kill-child", "sh", str(CHART / "files" / "format.sh")]
    variables = given(tmp_path, UNREACHED, 1)
    with subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("waiting until")
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            os.kill(int(children.read_text()), signal.SIGTERM)
            assert process.wait(ENDED_SECONDS_MAX) == 143
        finally:
            process.kill()


def test_a_formatted_volume_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "meta.properties").touch()
    expected = "format -g --cluster-id=id -c /etc/kraftctl/controller.properties --no-initial-controllers\n"
    assert run("format.sh", tmp_path, NEW + OTHER_NEW, 1) == (0, expected, "")


def test_an_id_that_begins_with_a_dash_is_formatted(tmp_path: Path) -> None:
    """By the real command: ids of clusters that began with ZooKeeper may begin so."""
    cluster_id = "-ArJXrP-SvO-8BiUSZQmHw"
    program = tmp_path / "kraftctl"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(kraftctl_command())} "$@"\n')
    program.chmod(0o755)
    settings = controller_properties(tmp_path / "data", address="localhost:9093")
    properties_file(tmp_path, settings).rename(tmp_path / "controller.properties")
    variables = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "CLUSTER_ID": cluster_id,
        "NODE_ID": "3000",
        "FIRST_NODE_ID": "3000",
        "OTHER_CONTROLLERS": "",
        "EXISTING_QUORUM": "",
        "CONFIG_DIRECTORY": str(tmp_path),
        "LOG_DIRECTORY": str(tmp_path / "data"),
    }
    for _ in range(2):
        command = ["sh", str(CHART / "files" / "format.sh")]
        subprocess.run(command, env={**os.environ, **variables}, timeout=60.0, check=True)
    assert f"cluster.id={cluster_id}" in (tmp_path / "data" / "meta.properties").read_text().splitlines()


@pytest.mark.parametrize("status", [0, 3])
def test_a_stop_that_costs_nothing_or_always_the_same_does_not_wait(status: int, tmp_path: Path) -> None:
    two = {"CONTROLLERS": "self:1,a:1", "RESTART_GATE_SECONDS": "600"}
    assert run("stop.sh", tmp_path, "", status, **two) == (0, "", "")


@pytest.mark.parametrize("status", [1, 2, 3])
def test_another_one_waits_and_says_why(status: int, tmp_path: Path) -> None:
    ended, said, waited = run("stop.sh", tmp_path, "Missing: 1", status, RESTART_GATE_SECONDS="1")
    assert (ended, said) == (1, "")
    assert waited == "stopped after 1 s all the same: Missing: 1\n"
    assert (tmp_path / "log").read_text() == waited
