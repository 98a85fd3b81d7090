"""`kraftctl quorum replace-voter` on real controllers: interrupted, repeated, and what it refuses."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.dev.nodes import KraftctlController, kraftctl_command
from kraftctl.dev.polling import await_result
from kraftctl.storage.meta_properties import read_meta_properties, write_meta_properties
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.uuids import uuid_to_string
from tests.cli.quorum_cases import CLUSTER_ID, Replica, ScriptedQuorum, directory_id, leader_node
from tests.support.processes.quorum import Quorum, TopicCreator

INTERRUPTED = 130
END_SECONDS_MAX = 60.0


def controller_file(tmp_path: Path, **changes: str) -> Path:
    properties = {
        "process.roles": "controller",
        "node.id": "3",
        "controller.listener.names": "CONTROLLER",
        "listeners": "CONTROLLER://localhost:9093",
        "log.dirs": str(tmp_path / "data"),
        **{key.replace("__", "."): value for key, value in changes.items()},
    }
    file = tmp_path / "controller.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    return file


def replaced(address: str, file: Path, *flags: str) -> int:
    connection = ["--bootstrap-controller", address, "--command-config", str(file)]
    return main(["quorum", *connection, "replace-voter", *flags])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"controller__quorum__voters": "3@localhost:9093"}, "starts as a voter of a static quorum"),
        (
            {"listeners": "CONTROLLER://0.0.0.0:9093"},
            "Other nodes cannot connect to CONTROLLER://0.0.0.0:9093",
        ),
    ],
    ids=["static", "wildcard"],
)
def test_refused_properties(
    changes: dict[str, str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with leader_node(ScriptedQuorum(1, [Replica(1, 90)])) as node:
        assert replaced(node.address, controller_file(tmp_path, **changes)) == 1
        assert node.requests == []
    assert reason in capsys.readouterr().err


def test_a_directory_of_another_cluster_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_meta_properties(tmp_path / "data", MetaProperties("another", 3, directory_id(31)), 0)
    quorum = ScriptedQuorum(1, [Replica(1, 90), Replica(2, 90), Replica(3, 7, 60_000)])
    with leader_node(quorum) as node:
        assert replaced(node.address, controller_file(tmp_path)) == 1
        assert not any(isinstance(sent, RemoveRaftVoterRequest) for sent in node.requests)
    assert "belongs to another cluster" in capsys.readouterr().err


def test_a_dry_run_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints the next step only: what follows depends on what will be there."""
    quorum = ScriptedQuorum(1, [Replica(1, 90), Replica(2, 90), Replica(3, 7, 60_000)])
    file = controller_file(tmp_path)
    with leader_node(quorum) as node:
        assert replaced(node.address, file, "--dry-run") == 0
        assert "the next step: Formatting" in capsys.readouterr().out
        assert not (tmp_path / "data").exists()
        write_meta_properties(tmp_path / "data", MetaProperties(CLUSTER_ID, 3, directory_id(31)), 0)
        assert replaced(node.address, file, "--dry-run") == 0
        assert (
            f"remove the voter 3 with directory id {uuid_to_string(directory_id(3))}"
            in capsys.readouterr().out
        )
        assert not any(isinstance(sent, RemoveRaftVoterRequest) for sent in node.requests)


def test_waiting_without_progress_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The other voter is down: nothing is removed, and the same command would continue."""
    write_meta_properties(tmp_path / "data", MetaProperties(CLUSTER_ID, 3, directory_id(31)), 0)
    quorum = ScriptedQuorum(1, [Replica(1, 90), Replica(2, 90, 60_000), Replica(3, 7, 60_000)])
    with leader_node(quorum) as node:
        assert replaced(node.address, controller_file(tmp_path), "--timeout-ms", "600") == 1
        assert not any(isinstance(sent, RemoveRaftVoterRequest) for sent in node.requests)
    printed = capsys.readouterr()
    assert printed.out.count("of which 2 are needed, but only 1 fetch") == 1
    assert "Nothing has changed for 600 ms" in printed.err
    assert "the same command continues from here" in printed.err


def test_a_voter_that_a_new_leader_has_not_heard_from_is_not_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may be running: followers fetch a moment after an election."""
    write_meta_properties(tmp_path / "data", MetaProperties(CLUSTER_ID, 3, directory_id(31)), 0)
    quorum = ScriptedQuorum(1, [Replica(1, 90), Replica(2, 90), Replica(3, -1, None)])
    with leader_node(quorum) as node:
        assert replaced(node.address, controller_file(tmp_path), "--timeout-ms", "600") == 1
        assert not any(isinstance(sent, RemoveRaftVoterRequest) for sent in node.requests)
    assert "has not fetched from the leader 1 yet" in capsys.readouterr().out


def directory_text(node: KraftctlController) -> str:
    meta = read_meta_properties(node.log_directory)
    assert meta is not None
    assert meta.directory_id is not None
    return uuid_to_string(meta.directory_id)


def described(quorum: Quorum) -> str:
    address = ",".join(node.address for node in quorum.nodes if node.running)
    command = kraftctl_command("quorum", "--bootstrap-controller", address, "describe", "--status")
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.long
def test_interrupted_and_repeated(tmp_path: Path) -> None:
    """The first run is interrupted while it waits for the process; the second one ends as voter."""
    with Quorum(tmp_path, dynamic=True) as quorum:
        creator = TopicCreator(quorum)
        creator.create(3)
        leader = quorum.leader()
        victim, other = [node for node in quorum.nodes if node is not leader]
        old_id = directory_text(victim)
        victim.kill()
        shutil.rmtree(victim.log_directory)
        command = kraftctl_command(
            *("quorum", "--bootstrap-controller", f"{other.address},{leader.address}"),
            *("--command-config", str(victim.properties_file), "replace-voter"),
        )

        first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert first.stdout is not None
        lines: list[str] = []
        for line in first.stdout:
            lines.append(line)
            if "it has to be running" in line:
                break
        first.send_signal(signal.SIGINT)
        assert first.wait(END_SECONDS_MAX) == INTERRUPTED
        printed = "".join(lines)
        new_id = directory_text(victim)
        assert new_id != old_id
        assert printed.index(new_id) < printed.index(f"Removed  KRaft controller {victim.node_id}")
        assert str(victim.node_id) not in voters_line(described(quorum))

        victim.start()
        done = subprocess.run(command, capture_output=True, text=True, timeout=END_SECONDS_MAX)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"with directory id {new_id} is a voter, and caught up" in done.stdout
        assert "Formatt" not in done.stdout
        assert new_id in voters_line(described(quorum))
        again = subprocess.run(command, capture_output=True, text=True, timeout=END_SECONDS_MAX)
        assert again.stdout.splitlines() == done.stdout.splitlines()[-1:]

        # One of three voters is gone: without the vote of the new one there is no leader.
        quorum.leader().kill()
        creator.create(3)
        creator.close()
        await_result(lambda: new_id in voters_line(described(quorum)), "the new voter is among them")


def voters_line(status: str) -> str:
    return next(line for line in status.splitlines() if line.startswith("CurrentVoters"))
