"""`kraftctl quorum` and kafka-metadata-quorum ask the same cluster and print the same."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.dev.nodes import kraftctl_command
from kraftctl.dev.settings import replication_for
from kraftctl.dev.tools import ToolResult
from tests.support.processes.kafka import Cluster, kafka, tools

pytestmark = pytest.mark.interop

COMMAND_SECONDS_MAX = 120


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((False, "4.3.1"), id="kraftctl"),
        pytest.param((True, "4.3.1"), id="java", marks=pytest.mark.long),
        pytest.param((True, "4.4.0"), id="java-4.4", marks=pytest.mark.long),
    ],
)
def quorum(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One controller, kraftctl's or Kafka's, and one broker."""
    java, version = request.param
    with Cluster(
        kafka(version),
        tmp_path_factory.mktemp("quorum"),
        brokers=1,
        java_controller=java,
        controller_settings=replication_for(1),
        broker_settings=replication_for(1),
    ) as cluster:
        yield cluster


def kraftctl_quorum(*arguments: str) -> ToolResult:
    """Standard output, then standard error, as KafkaTools returns them."""
    done = subprocess.run(
        kraftctl_command("quorum", *arguments), capture_output=True, text=True, timeout=COMMAND_SECONDS_MAX
    )
    return ToolResult(done.stdout + done.stderr, done.returncode)


def addresses(cluster: Cluster, door: str) -> str:
    return cluster.bootstrap_servers if door == "--bootstrap-server" else cluster.bootstrap_controllers


def without_progress(text: str) -> list[str]:
    """Lines without what changes between two calls: times, and offsets of a log that is growing."""
    lines: list[str] = []
    for line in text.splitlines():
        line = re.sub(r"^(HighWatermark: +|MaxFollowerLag\w*: +)-?\d+$", r"\1N", line)
        if line[:1].isdigit():
            node_id, directory_id, *_, status, _ = line.split("\t")
            line = "\t".join((node_id, directory_id, status))
        lines.append(re.sub(r"\d+ ms ago *", "N ms ago", line))
    return lines


@pytest.mark.parametrize("flags", [("--status",), ("--replication",), ("--replication", "--human-readable")])
@pytest.mark.parametrize("door", ["--bootstrap-server", "--bootstrap-controller"])
def test_describe(quorum: Cluster, door: str, flags: tuple[str, ...]) -> None:
    arguments = (door, addresses(quorum, door), "describe", *flags)
    theirs = quorum.tools().run("kafka-metadata-quorum", *arguments)
    ours = kraftctl_quorum(*arguments)
    assert (ours.exit_code, theirs.exit_code) == (0, 0), ours.output + theirs.output
    assert without_progress(ours.output) == without_progress(theirs.output)
    assert ("ms ago" in ours.output) == ("--human-readable" in flags)


@pytest.mark.parametrize(
    "arguments",
    [
        ("describe",),
        ("describe", "--status", "--replication"),
        ("describe", "--status", "--human-readable"),
        ("describe", "--unknown"),
        ("--command-config", "no-such-file", "describe", "--status"),
        ("add-controller",),
        ("remove-controller", "-i", "7"),
        ("remove-controller", "-i", "-7", "-d", "bGzDaR4ySNmJaPXzonU2CA"),
        ("remove-controller", "-i", "7", "-d", "no-uuid"),
    ],
    ids=" ".join,
)
def test_wrong_arguments(arguments: tuple[str, ...]) -> None:
    """Refused without a cluster. The exit statuses are equal; the sentences are our own."""
    controllers = ("--bootstrap-controller", "localhost:1")
    theirs = tools().run("kafka-metadata-quorum", *controllers, *arguments)
    ours = kraftctl_quorum(*controllers, *arguments)
    assert ours.exit_code == theirs.exit_code == 1, ours.output + theirs.output


def own_file(cluster: Cluster) -> str:
    return str(cluster.controller.properties_file)


def test_dry_runs(quorum: Cluster) -> None:
    """The same text, from the same properties file and directory."""
    controllers = ("--bootstrap-controller", quorum.bootstrap_controllers)
    connection = (*controllers, "--command-config", own_file(quorum))
    for operation in (
        ("add-controller", "--dry-run"),
        ("remove-controller", "-i", "7", "-d", "bGzDaR4ySNmJaPXzonU2CA", "--dry-run"),
    ):
        theirs = quorum.tools().run("kafka-metadata-quorum", *connection, *operation)
        ours = kraftctl_quorum(*connection, *operation)
        assert (ours.output, ours.exit_code) == (theirs.output, theirs.exit_code)
        assert ours.output.startswith("DRY RUN of ")


@pytest.mark.parametrize("door", ["--bootstrap-server", "--bootstrap-controller"])
@pytest.mark.parametrize(
    ("operation", "error"),
    [
        (("add-controller",), "DUPLICATE_VOTER"),
        (("remove-controller", "-i", "7", "-d", "bGzDaR4ySNmJaPXzonU2CA"), "VOTER_NOT_FOUND"),
    ],
    ids=["duplicate", "not-found"],
)
def test_refusals(quorum: Cluster, door: str, operation: tuple[str, ...], error: str) -> None:
    connection = (door, addresses(quorum, door), "--command-config", own_file(quorum))
    theirs = quorum.tools().run("kafka-metadata-quorum", *connection, *operation)
    ours = kraftctl_quorum(*connection, *operation)
    assert ours.exit_code == theirs.exit_code == 1, ours.output + theirs.output
    assert error in ours.output
    assert "".join(word.capitalize() for word in error.split("_")) + "Exception" in theirs.output


@pytest.mark.long
@pytest.mark.parametrize("version", ["4.3.1", "4.4.0"])
def test_a_voter_of_kafkas_own_quorum_is_replaced(tmp_path: Path, version: str) -> None:
    """Three of Kafka's controllers; one loses its directory, which kraftctl formats anew."""
    cluster = Cluster(kafka(version), tmp_path, brokers=0, controllers=3, java_controller=True)
    try:
        cluster.format()
        cluster.start_controllers()
        *_, victim = cluster.controllers
        controllers = ("--bootstrap-controller", cluster.bootstrap_controllers)
        voters = voters_of(kraftctl_quorum(*controllers, "describe", "--status"))
        assert set(voters) == {controller.node_id for controller in cluster.controllers}

        victim.kill()
        shutil.rmtree(victim.log_directory)
        replacement = (*controllers, "--command-config", str(victim.properties_file), "replace-voter")
        refused = kraftctl_quorum(*replacement, "--timeout-ms", "15000")
        assert refused.exit_code == 1
        assert f"Waiting until controller {victim.node_id} fetches" in refused.output, refused.output
        victim.start()
        replaced = kraftctl_quorum(*replacement)
        assert replaced.exit_code == 0, replaced.output
        now = voters_of(kraftctl_quorum(*controllers, "describe", "--status"))
        assert set(now) == set(voters)
        assert {node_id for node_id in now if now[node_id] != voters[node_id]} == {victim.node_id}
        assert f"with directory id {now[victim.node_id]} is a voter, and caught up" in replaced.output
    finally:
        cluster.kill()


def voters_of(status: ToolResult) -> dict[int, str]:
    """Node id to directory id."""
    assert status.exit_code == 0, status.output
    line = next(line for line in status.output.splitlines() if line.startswith("CurrentVoters"))
    found = re.findall(r'"id": (\d+), "directoryId": "([^"]+)"', line)
    return {int(node_id): name for node_id, name in found}
