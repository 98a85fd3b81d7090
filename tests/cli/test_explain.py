"""`kraftctl explain` of a directory, of a running controller, and of a quorum without one."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.dev.ports import free_port
from kraftctl.explain.explanation import explanation_text
from kraftctl.explain.why_partition import explain_partition
from kraftctl_spark.cli import main as kraftctl_export
from tests.cli.quorum_cases import CASES, leader_node
from tests.cli.test_quorum_survey import standby
from tests.spark.log_directory import LogDirectory
from tests.spark.typed_export import export_directory
from tests.support.explained_log import change, partition
from tests.support.processes.started_controller import StartedController
from tests.support.wire.scripted_node import Script, ScriptedNode
from tests.support.written_log import WrittenLog

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/operations/explain.md"
SECONDS_MAX = 5.0

ELSEWHERE = "kraftctl explain partition solo-0 --bootstrap-controllers controller-1:9093"
"""With a broker that is killed: tests/interop/test_walked_pages.py."""


@pytest.fixture
def written(tmp_path: Path) -> Iterator[WrittenLog]:
    """The log of a cluster with a topic whose only replica is gone."""
    directory = LogDirectory(tmp_path / "written")
    log = WrittenLog(directory)
    log.feature("metadata.version", 30)
    log.brokers(1, 2, 3)
    log.controllers(3000)
    log.topic("solo", partition([3]))
    log.topic("orders", partition([1, 2]))
    log.fence(3, change("solo", 0, leader=-1, isr=[], eligible_leader_replicas=[3]))
    yield log
    directory.close()


@pytest.fixture
def data(written: WrittenLog, tmp_path: Path) -> str:
    return str(tmp_path / "written")


def test_the_text_has_times_offsets_and_the_next_step(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = {
        "quorum": {"is_active_controller": True},
        "brokers": [{"id": 3, "heartbeat_age_ms": 9_000, "metadata_offset": 12}],
        "left_out": {"brokers": 7},
    }
    (tmp_path / "status.json").write_text(json.dumps(status))
    arguments = ["--directory", data, "--status", str(tmp_path / "status.json")]
    assert main(["explain", "partition", "solo-0", *arguments]) == 10
    assert capsys.readouterr().out == (
        "solo-0 has no leader since 08:00:11 (0.0 s)\n"
        "  because its only replica, broker 3, is fenced since 08:00:11 (offset 12)\n"
        "  because broker 3 sent no heartbeat for 9.0 s\n"
        "  eligible: {3} (ELR); no other replica is available for an unclean election\n"
        "Next: start broker 3; it is elected when it is unfenced\n"
        "As of 2027-01-15 08:00:11 UTC, the newest record, before offset 14; read from the log\n"
    )


def test_a_status_that_leaves_brokers_out_says_nothing_of_them(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = {"quorum": {"is_active_controller": True}, "brokers": [], "left_out": {"brokers": 7}}
    (tmp_path / "status.json").write_text(json.dumps(status))
    main(["explain", "broker", "3", "--directory", data, "--status", str(tmp_path / "status.json")])
    expected = "the status shows 0 brokers and leaves out 7, with broker 3: its heartbeats are not known"
    assert expected in capsys.readouterr().out


def test_a_directory_has_the_same_explanation_as_its_records(
    written: WrittenLog, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    evidence = written.evidence(after_ms=0)
    for topic in ("solo", "orders"):
        status = main(["explain", "partition", f"{topic}-0", "--directory", data])
        assert status == (10 if topic == "solo" else 0)
        expected = explanation_text(explain_partition(evidence, topic, 0), evidence.now_ms)
        assert capsys.readouterr().out.startswith(f"{expected}\nAs of ")


def test_json_has_the_same_for_programs(
    written: WrittenLog, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "partition", "solo-0", "--directory", data, "--output", "json"]) == 10
    found = json.loads(capsys.readouterr().out)
    assert (found["healthy"], found["end_offset"]) == (False, written.offset + 1)
    assert (found["last_record_ms"], found["snapshot"]) == (written.now_ms, None)
    assert found["causes"][0] == {
        "text": "its only replica, broker 3, is fenced",
        "since_ms": written.now_ms,
        "since_is_latest_possible": False,
        "offset": written.offset - 1,
    }


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["topic", "missing"], "there is no topic missing up to offset 14"),
        (["partition", "orders-7"], "topic orders has no partition 7: it has 1"),
        (["broker", "9"], "broker 9 is not registered, and the log has no earlier registration of it"),
        (["controller", "9"], "controller 9 is neither registered nor a voter: registered are 3000"),
        (["feature", "no.such"], "no node supports a feature no.such: they support metadata.version"),
    ],
)
def test_what_is_not_there_has_a_reason(
    arguments: list[str], reason: str, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *arguments, "--directory", data]) == 1
    assert capsys.readouterr().err.startswith(f"kraftctl explain: {reason}")


@pytest.mark.parametrize("arguments", [["partition", "solo-0"], ["broker", "3"], ["topic", "solo"]])
def test_what_may_be_in_what_is_held_back_is_not_said_to_be_missing(
    arguments: list[str], written: WrittenLog, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of three voters, before its first snapshot: nothing says what of its log is committed."""
    written.append_voters(1, 2, 3)
    assert main(["explain", *arguments, "--directory", data]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("kraftctl explain: it is not in what is known to be committed; held back are 15 ")
    assert "Next step: add --assume-committed, or ask the controllers" in last
    assert main(["explain", *arguments, "--directory", data, "--assume-committed"]) == 10


def test_a_client_file_that_is_not_there_has_a_reason(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "quorum", "--directory", data, "--command-config", "missing"]) == 1
    assert capsys.readouterr().err.startswith("kraftctl explain: there is no file missing")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["partition", "solo-0"], id="without-a-source"),
        pytest.param(["partition", "solo", "--directory", "d"], id="partition-without-a-number"),
        pytest.param(["broker", "one", "--directory", "d"], id="broker-without-a-number"),
        pytest.param(["reason", "--directory", "d"], id="unknown-subject"),
        pytest.param(["quorum", "--directory", "d", "--bootstrap-controllers", "h:1"], id="two-sources"),
    ],
)
def test_wrong_arguments_have_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["explain", *arguments])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: kraftctl explain")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "cannot be used: Expecting property name"),
        ("[]", "cannot be used: it is not what /status.json of a controller of kraftctl returns"),
        ('{"brokers": [], "quorum": {"is_active_controller": false}}', "it is not of the active controller"),
    ],
)
def test_a_status_that_is_none_is_refused(
    text: str, reason: str, data: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main(["explain", "broker", "3", "--directory", data, "--status", "-"]) == 1
    assert reason in capsys.readouterr().err


def test_the_keys_of_the_client_are_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=missing.pem\n")
    arguments = ["--bootstrap-controllers", f"127.0.0.1:{free_port()}", "--command-config", str(file)]
    assert main(["explain", "broker", "1", *arguments]) == 1
    assert "missing.pem" in capsys.readouterr().err


def test_a_log_of_a_newer_release_is_read(
    written: WrittenLog, data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    written.write_values(b"\x01\xf0\x07\x00")
    assert main(["explain", "broker", "1", "--directory", data]) == 0
    assert capsys.readouterr().err == "1 record of types [1008], which a newer release wrote, is left out\n"


def test_a_directory_without_a_log_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "quorum", "--directory", str(tmp_path)]) == 1
    assert "holds no __cluster_metadata-0" in capsys.readouterr().err


def test_no_controller_is_reached(capsys: pytest.CaptureFixture[str]) -> None:
    address = f"127.0.0.1:{free_port()}"
    began = time.monotonic()
    assert main(["explain", "broker", "1", "--bootstrap-controllers", address]) == 1
    assert time.monotonic() - began < SECONDS_MAX
    assert f"{address} is not reached" in capsys.readouterr().err
    assert main(["explain", "quorum", "--bootstrap-controllers", address]) == 1
    assert capsys.readouterr().out.startswith(
        "The quorum has no leader that answers\n"
        "  because 0 of the 1 controller that was asked is reached: whether one leads is not known\n"
        f"  {address} is not reached: "
    )


GONE = ("127.0.0.1", 1)


@pytest.mark.parametrize(
    ("scripts", "is_one_gone", "status", "verdict", "cause"),
    [
        pytest.param(
            [standby(), standby(3, 6)],
            True,
            10,
            "unhealthy",
            "2 of the 3 controllers that were asked are reached; the voters, and so how many are a majority,"
            " are not known",
            id="some-are-reached",
        ),
        pytest.param(
            [standby()],
            False,
            10,
            "unhealthy",
            "1 of the 1 controller that was asked is reached, and none leads or reaches a leader",
            id="all-are-reached",
        ),
        pytest.param(
            [standby(), standby(2, 9, GONE)],
            False,
            1,
            "unknown",
            "2 of the 3 controllers that were asked are reached; controller 2, which is named as the leader,"
            " is not",
            id="the-leader-is-not-reached",
        ),
        pytest.param(
            [standby(2, 9)],
            False,
            1,
            "unknown",
            "1 of the 1 controller that was asked is reached; controller 2, which is named as the leader,"
            " is not",
            id="the-address-of-the-leader-is-not-known",
        ),
    ],
)
def test_a_quorum_without_a_leader_that_answers(
    scripts: list[Script],
    is_one_gone: bool,
    status: int,
    verdict: str,
    cause: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with contextlib.ExitStack() as stack:
        nodes = [stack.enter_context(ScriptedNode(script)) for script in scripts]
        addresses = [node.address for node in nodes] + [f"127.0.0.1:{free_port()}"] * is_one_gone
        began = time.monotonic()
        arguments = ["--bootstrap-controllers", ",".join(addresses), "--output", "json"]
        assert main(["explain", "quorum", *arguments]) == status
        assert time.monotonic() - began < SECONDS_MAX
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["causes"][0]["text"]) == (verdict, cause)


@pytest.mark.parametrize("subject", [["quorum"], ["controller", "3000"]])
def test_what_only_the_leader_knows_is_not_known_from_a_directory(
    subject: list[str], data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", *subject, "--directory", data, "--output", "json"]) == 1
    printed = capsys.readouterr().out
    assert json.loads(printed)["verdict"] == "unknown"
    assert "Nothing is wrong" not in printed


def test_a_leader_that_does_not_let_its_log_be_read_has_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    case = CASES["one-voter"]
    with leader_node(case.quorum, case.versions) as node:
        began = time.monotonic()
        assert main(["explain", "broker", "1", "--bootstrap-controllers", node.address]) == 1
        assert time.monotonic() - began < SECONDS_MAX
    assert f"{node.address}: it does not serve this FetchRequest" in capsys.readouterr().err


def test_a_running_controller(controller: StartedController, capsys: pytest.CaptureFixture[str]) -> None:
    source = ["--bootstrap-controllers", f"localhost:{controller.port}"]
    assert main(["explain", "quorum", *source]) == 0
    assert re.match(
        r"Nothing is wrong: controller 3000 leads epoch \d+, and its only voter is caught up; it leads ",
        capsys.readouterr().out,
    )
    assert main(["explain", "feature", "metadata.version", *source]) == 0
    assert "metadata.version" in capsys.readouterr().out
    assert main(["explain", "reassignment", *source]) == 0
    assert capsys.readouterr().out.startswith("Nothing is wrong: no partition is being reassigned\n")


def commands_of_the_page() -> list[str]:
    blocks = re.findall(r"^```console\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [
        line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")
    ]


@pytest.mark.slow
def test_every_command_of_the_page_runs(
    controller: StartedController,
    data: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    export_directory(Path(data), tmp_path / "tables")
    status = {"quorum": {"is_active_controller": True}, "brokers": []}
    (tmp_path / "status.json").write_text(json.dumps(status))
    commands = commands_of_the_page()
    commands.remove(ELSEWHERE)
    assert len(commands) >= 12
    for command in commands:
        text = command.replace("controller-1:9093", f"localhost:{controller.port}")
        program, *arguments = shlex.split(text.replace("/var/lib/kafka/metadata", data))
        called = main(arguments) if program == "kraftctl" else kraftctl_export(arguments)
        # The broker and the partition of the page are in trouble.
        assert called in (0, 10), (command, capsys.readouterr().err)
    capsys.readouterr()
