"""`kraftctl end-halt`, and `kraftctl start` before it: what each says, and what each changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.refused_start import HALTED_STATUS
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl.storage.directory_lock import DirectoryLock
from kraftctl.storage.halt import FILE_NAME as HALT_FILE
from kraftctl.storage.halt import HaltedError
from kraftctl.storage.recovery_point import FILE_NAME as RECOVERY_POINT
from kraftctl.storage.recovery_point import read_recovery_point
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from tests.storage.batches import batch
from tests.support.partitions import open_partition

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
THREE = VoterSet([VoterNode(ReplicaKey(node_id), {}) for node_id in (1, 2, 3)])
REASON = "The leader 2 of epoch 5 wants the log to end at offset 3. Next step: kraftctl end-halt --help."


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """One of three static voters that has halted; the properties file is beside it."""
    directory = tmp_path / "data"
    (tmp_path / "server.properties").write_text(
        f"process.roles=controller\nnode.id=1\nlog.dirs={directory}\n"
        "listeners=CONTROLLER://localhost:9093\ncontroller.listener.names=CONTROLLER\n"
        "controller.quorum.voters=1@localhost:9093,2@localhost:9094,3@localhost:9095\n"
    )
    assert main(["format", "-t", CLUSTER_ID, "-c", str(tmp_path / "server.properties")]) == 0
    partition = open_partition(directory, static_voters=THREE)
    partition.write_quorum_state(ElectionState(epoch=4, voted_id=2, current_voters=[1, 2, 3]))
    for offset in range(10):
        partition.log.append(batch(offset, epoch=4))
        partition.note_committed(offset)
        partition.flush()
    with pytest.raises(HaltedError):
        partition.halt(REASON, 1_800_000_000_000)
    partition.close()
    return directory


def _end(directory: Path, *flags: str) -> int:
    return main(["end-halt", "-c", str(directory.with_name("server.properties")), *flags])


@pytest.mark.prevents("restart-drops-committed")
def test_a_start_ends_with_a_status_of_its_own(directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main(["start", str(directory.with_name("server.properties"))]) == HALTED_STATUS == 65
        assert (
            f"This controller has halted since 2027-01-15T08:00:00Z ({directory / HALT_FILE}): {REASON}"
            in ("".join(capfd.readouterr()))
        )


def test_it_keeps_its_log(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _end(directory, "--keep-log") == 0
    output = capsys.readouterr().out
    assert "this controller starts again, with the log that it has: nothing in it was changed" in output
    assert "stop all controllers, and copy its log to each other voter (docs/operations/halted.md)" in output
    assert "Everything that the others acknowledged since it halted is lost" in output
    partition = open_partition(directory, static_voters=THREE)
    assert (partition.recovering_epoch, partition.log.end_offset, partition.committed_end) == (None, 10, 9)
    assert partition.warnings == []


def test_it_gives_up_its_log(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is renamed, and the replica recovers before it votes."""
    segments = [path.read_bytes() for path in (directory / PARTITION_DIRECTORY).glob("*.log")]
    assert _end(directory, "--accept-loss-of-log") == 0
    (kept,) = directory.glob("given-up-log-*")
    output = capsys.readouterr().out
    assert f"the log of this controller is given up; it is kept as {kept.name}. Next step: see" in output
    assert f"Move {kept.name} out of the directory once it does." in output
    assert [path.read_bytes() for path in kept.glob("*.log")] == segments
    partition = open_partition(directory, static_voters=THREE)
    assert (partition.recovering_epoch, partition.log.end_offset, partition.committed_end) == (4, 0, 0)
    point = read_recovery_point(directory)
    assert point is not None
    assert point.log_is_whole is False, "kraftctl end-recovery must not let it vote"
    (line,) = partition.warnings
    assert line.endswith(
        "start more of them: an operator has decided, with kraftctl end-halt, that this one follows"
        " (docs/operations/lost-disk.md)"
    )


def test_after_a_crash_in_between_it_can_be_run_again(directory: Path) -> None:
    content = (directory / HALT_FILE).read_bytes()
    assert _end(directory, "--accept-loss-of-log") == 0
    (directory / HALT_FILE).write_bytes(content)
    assert _end(directory, "--accept-loss-of-log") == 0
    assert not (directory / HALT_FILE).exists()
    point = read_recovery_point(directory)
    assert point is not None
    assert (point.recovering, point.log_is_whole, point.quorum_epoch) == (True, False, 4)


@pytest.mark.parametrize("flag", ["--keep-log", "--accept-loss-of-log"])
def test_it_changes_nothing_where_nothing_has_halted(
    directory: Path, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (directory / HALT_FILE).unlink()
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    assert _end(directory, flag) == 0
    assert "this controller has not halted: nothing was changed" in capsys.readouterr().out
    after = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    assert after.keys() - before.keys() <= {directory / ".lock"}
    assert {path: after[path] for path in before} == before


def test_it_refuses_to_give_up_a_log_whose_promises_are_gone(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (directory / RECOVERY_POINT).unlink()
    assert _end(directory, "--accept-loss-of-log") == 1
    assert "metadata-recovery-point is missing" in capsys.readouterr().err
    assert (directory / HALT_FILE).exists()


def test_a_directory_in_use_is_refused(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = DirectoryLock.acquire(directory)
    try:
        assert _end(directory, "--keep-log") == 1
    finally:
        lock.release()
    assert "is in use" in capsys.readouterr().err


@pytest.mark.parametrize("flags", [(), ("--keep-log", "--accept-loss-of-log")], ids=["none", "both"])
def test_it_does_not_decide(directory: Path, flags: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        _end(directory, *flags)
    assert (directory / HALT_FILE).exists()


def test_end_recovery_does_not_end_a_halt(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["end-recovery", "-c", str(directory.with_name("server.properties"))]) == 1
    assert "has halted since" in capsys.readouterr().err


def test_help_says_what_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["end-halt", "--help"])
    output = capsys.readouterr().out
    assert "COMMITTED METADATA IS LOST if" in output
    assert "EVERYTHING THAT THE OTHERS ACKNOWLEDGED SINCE THIS CONTROLLER HALTED IS LOST" in output
