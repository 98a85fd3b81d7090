"""`kraftctl quorum describe` prints what kafka-metadata-quorum prints, character by character.

`testdata/quorum_*.txt` was printed by Kafka's tool; `REWRITE=1 pytest -m java` on this file prints it anew.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.quorum.describe import replication_text, status_text
from kraftctl.cli.quorum.quorum_info import QuorumInfo, QuorumReplica
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.errors import Errors
from tests.cli.quorum_cases import CASES, LEADER_TIME_MS, leader_node
from tests.support.processes.kafka import tools

TESTDATA = Path(__file__).parent / "testdata"

FLAGS = ("--status", "--replication")

BOTH_TEXTS = [pytest.param(name, flag, id=f"{name}{flag}") for name in CASES for flag in FLAGS]


def stored(name: str, flag: str) -> Path:
    return TESTDATA / f"quorum_{name}{flag[1:]}.txt"


@pytest.mark.parametrize(("name", "flag"), BOTH_TEXTS)
def test_the_text_is_kafkas(name: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    case = CASES[name]
    with leader_node(case.quorum, case.versions) as node:
        assert main(["quorum", "--bootstrap-controller", node.address, "describe", flag]) == 0
    assert capsys.readouterr().out == stored(name, flag).read_text()


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize(("name", "flag"), BOTH_TEXTS)
def test_kafka_still_prints_it(name: str, flag: str) -> None:
    case = CASES[name]
    with leader_node(case.quorum, case.versions) as node:
        controllers = ("--bootstrap-controller", node.address)
        printed = tools().output("kafka-metadata-quorum", *controllers, "describe", flag)
    if os.environ.get("REWRITE") == "1":
        stored(name, flag).write_text(printed)
    assert stored(name, flag).read_text() == printed


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--bootstrap-controller", "NODE", "describe", "--status"], id="as-in-kafka"),
        pytest.param(["describe", "--bootstrap-controller", "NODE", "--status"], id="behind-the-operation"),
        pytest.param(["describe", "--status", "--bootstrap-controller=localhost:1,NODE"], id="first-is-down"),
    ],
)
def test_where_flags_may_be(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with leader_node(CASES["one-voter"].quorum) as node:
        assert main(["quorum", *[text.replace("NODE", node.address) for text in arguments]]) == 0
    assert capsys.readouterr().out == stored("one-voter", "--status").read_text()


WRONG = [
    pytest.param([], "OPERATION", id="no-operation"),
    pytest.param(["describe"], "either --status or --replication", id="neither"),
    pytest.param(["describe", "--status", "--replication"], "either --status or --replication", id="both"),
    pytest.param(["describe", "--status", "--human-readable"], "for --replication only", id="human-status"),
    pytest.param(["describe", "--states"], "unrecognized arguments: --states", id="unknown-flag"),
    pytest.param(["descrive"], "descrive", id="unknown-operation"),
    pytest.param(["--command-config", "gone.properties", "describe", "--status"], "gone.prop", id="no-file"),
]


@pytest.mark.parametrize(("arguments", "reason"), WRONG)
def test_wrong_arguments_end_with_kafkas_status(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 1, not argparse's 2, and nothing on standard output."""
    assert status_of(["quorum", "--bootstrap-controller", "127.0.0.1:1", *arguments]) == 1
    printed = capsys.readouterr()
    assert reason in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(
    ("connection", "reason"),
    [
        ([], "either --bootstrap-server or --bootstrap-controller"),
        (
            ["--bootstrap-server", "a:1", "--bootstrap-controller", "b:1"],
            "either --bootstrap-server or --bootstrap-controller",
        ),
        (["--bootstrap-server", "a"], "'a' is not of the form host:port"),
        (["--bootstrap-server", ""], "at least one host:port"),
    ],
    ids=["none", "both", "no-port", "empty"],
)
def test_wrong_addresses(connection: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(["quorum", *connection, "describe", "--status"]) == 1
    assert reason in capsys.readouterr().err


def status_of(arguments: list[str]) -> int:
    """As the process would end: wrong arguments raise SystemExit."""
    try:
        return main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)


def quorum_info(leader_id: int = 1) -> QuorumInfo:
    voters = (
        QuorumReplica(1, bytes(16), 9, LEADER_TIME_MS, LEADER_TIME_MS),
        QuorumReplica(2, bytes(16), 8, LEADER_TIME_MS - 40, None),
    )
    return QuorumInfo(leader_id, 3, 8, voters, (), {})


def test_human_readable_times() -> None:
    """The distance to the clock here; a replica that was never caught up has -1, as without the flag."""
    table = replication_text(quorum_info(), LEADER_TIME_MS + 2, human_readable=True).splitlines()
    cells = [[cell.strip() for cell in line.split("\t")] for line in table]
    assert cells[1][4:6] == ["2 ms ago", "2 ms ago"]
    assert cells[2][4:6] == ["42 ms ago", "-1"]


def test_a_clock_behind_the_leaders_is_reported() -> None:
    with pytest.raises(AdminError, match=r"compare the clock here with the leader's"):
        replication_text(quorum_info(), LEADER_TIME_MS - 1, human_readable=True)


def test_a_leader_that_has_removed_itself() -> None:
    for text in (
        lambda quorum: status_text("cluster", quorum),
        lambda quorum: replication_text(quorum, 0, human_readable=False),
    ):
        with pytest.raises(AdminError, match="The leader 7 of epoch 3 is no voter"):
            text(quorum_info(leader_id=7))


def test_a_refusal_names_request_node_and_error(capsys: pytest.CaptureFixture[str]) -> None:
    denied = replace(CASES["one-voter"].quorum, error=Errors.CLUSTER_AUTHORIZATION_FAILED)
    with leader_node(denied) as node:
        assert main(["quorum", "--bootstrap-controller", node.address, "describe", "--replication"]) == 1
    error = capsys.readouterr().err
    assert f"DescribeQuorumRequest at {node.address} was refused with CLUSTER_AUTHORIZATION_FAILED" in error


def test_the_cases_reach_every_column() -> None:
    """Among them are unknown times, unknown directory ids, several endpoints, and no endpoints."""
    texts = "".join(stored(name, flag).read_text() for name in CASES for flag in FLAGS)
    for wanted in (
        "-1  ",
        "AAAAAAAAAAAAAAAAAAAAAA",
        '"CONTROLLER://[::1]:9094", "SECOND://two:1"',
        "Observer",
    ):
        assert wanted in texts


def test_another_security_protocol_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=TLS\n")
    connection = ["--bootstrap-controller", "127.0.0.1:1", "--command-config", str(file)]
    assert main(["quorum", *connection, "describe", "--status"]) == 1
    assert (
        "Invalid value TLS for configuration security.protocol: it must be one of" in capsys.readouterr().err
    )
