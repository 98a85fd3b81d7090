"""A follower has the last copy of committed records, and its leader wants it to drop them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.server.controller_server import open_partition
from kraftctl.storage.directory_entries import names_in
from kraftctl.storage.end_of_halt import give_up_log, keep_log
from kraftctl.storage.end_of_recovery import end_recovery
from kraftctl.storage.halt import FILE_NAME as HALT_FILE
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, checkpoint_file_name
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.quorum import Quorum, StartQuorum

VOTERS = [1, 2, 3]
LATER_EPOCH = 50
FIRST_CHECKPOINT = checkpoint_file_name(BOOTSTRAP_SNAPSHOT_ID)

End = Callable[[Quorum, ControllerProcess], None]


def killed(_: Quorum, process: ControllerProcess) -> None:
    process.kill()


def without_power(quorum: Quorum, process: ControllerProcess) -> None:
    """A second after the last commit, when the recovery point has been forced again."""
    quorum.run_for(1_100)
    quorum.append(quorum.led(), 1)
    quorum.run_for(200)
    quorum.crash(process)


def stopped(quorum: Quorum, process: ControllerProcess) -> None:
    process.stop()
    quorum.run_for(500)


def others_lose_their_directories(quorum: Quorum, last: ControllerProcess) -> None:
    """As Kafka's controllers do it without a trace: they come back as formatted, in a later epoch."""
    others = [each for each in quorum.processes.values() if each is not last]
    for process in others:
        if process.lifetime is not None:
            process.kill()
        formatted = process.disk.root / PARTITION_DIRECTORY / FIRST_CHECKPOINT
        content = formatted.read_bytes() if formatted.exists() else None
        process.disk.wipe(keep=("meta.properties", "bootstrap.checkpoint"))
        if content is not None:
            formatted.parent.mkdir()
            formatted.write_bytes(content)
        process.start()
    for process in others:
        process.kill()
        QuorumStateStore(process.disk.root / PARTITION_DIRECTORY).write(
            ElectionState(epoch=LATER_EPOCH, current_voters=VOTERS, data_version=int(content is not None))
        )
        process.start()
    quorum.run_for(8_000)
    assert quorum.led() is not last


def last_copy(
    start_quorum: StartQuorum, end: End, *, leader_has_snapshot: bool = False, dynamic: bool = False
) -> tuple[Quorum, ControllerProcess, int]:
    """A quorum whose leader lacks committed records, the one that has them, which is down, and its end."""
    quorum = start_quorum(3, VOTERS, dynamic=dynamic, checked=False)
    for _ in range(6):
        quorum.append(quorum.led(), 5)
        quorum.run_for(100)
    last = quorum.followers()[0]
    last.on_failure = lambda process, error: None
    end(quorum, last)
    others_lose_their_directories(quorum, last)
    if leader_has_snapshot:
        quorum.take_snapshot(quorum.led())
    return quorum, last, len(_log(last))


def _log(process: ControllerProcess) -> bytes:
    segments = sorted((process.disk.root / PARTITION_DIRECTORY).glob("*.log"))
    return b"".join(segment.read_bytes() for segment in segments)


def _copy(directory: Path, copied: Path) -> None:
    copied.mkdir()
    for name in names_in(directory):
        (copied / name).write_bytes((directory / name).read_bytes())


def _end_recovery(process: ControllerProcess) -> str:
    meta = read_meta_properties(process.disk.root)
    assert meta is not None
    partition = open_partition(process.config, meta, lambda: 0)
    try:
        return end_recovery(partition, log_is_whole=True)
    finally:
        partition.close()


@pytest.mark.prevents("restart-drops-committed")
@pytest.mark.parametrize("leader_has_snapshot", [False, True], ids=["log", "snapshot"])
@pytest.mark.parametrize("end", [killed, without_power, stopped])
def test_a_restart_does_not_truncate_what_was_committed(
    start_quorum: StartQuorum, end: End, leader_has_snapshot: bool
) -> None:
    """After any end of its process, and whatever the leader has in its place."""
    quorum, last, size_bytes = last_copy(start_quorum, end, leader_has_snapshot=leader_has_snapshot)
    last.start()
    quorum.run_for(5_000)
    assert last.lifetime is None, "it follows a leader that lacks committed records"
    assert len(_log(last)) == size_bytes
    assert (last.disk.root / HALT_FILE).exists()


@pytest.mark.prevents("restart-drops-committed")
def test_a_supervisor_that_starts_it_again_gets_the_same_reason(start_quorum: StartQuorum) -> None:
    """Each start ends before anything is written, and before the node has voted or fetched."""
    quorum, last, size_bytes = last_copy(start_quorum, killed)
    last.start()
    quorum.run_for(5_000)
    content = {path: path.read_bytes() for path in last.disk.root.rglob("*") if path.is_file()}
    for _ in range(3):
        refusal = quorum.restart(last)
        assert "This controller has halted since 20" in refusal
        assert "wants the log to end at offset" in refusal
        assert "Next step: " in refusal
        assert "kraftctl end-halt --help" in refusal
        assert "copy metadata.log.dir of every voter, and compare the logs (kraftctl dump log ...)" in refusal
        assert (
            "Do not start an earlier release of kraftctl or Kafka's controller on this directory" in refusal
        )
        quorum.run_for(1_000)
    assert {path: path.read_bytes() for path in last.disk.root.rglob("*") if path.is_file()} == content
    assert len(_log(last)) == size_bytes


@pytest.mark.prevents("restart-drops-committed")
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_with_its_log_it_leads_the_others(start_quorum: StartQuorum, dynamic: bool) -> None:
    """As docs/operations/halted.md says: with all stopped the kept log is copied to each other voter."""
    quorum, last, _ = last_copy(start_quorum, killed, dynamic=dynamic)
    last.start()
    quorum.run_for(5_000)
    kept = _log(last)
    assert (last.disk.root / HALT_FILE).exists()
    others = [each for each in quorum.processes.values() if each is not last]
    for process in others:
        process.kill()
        process.disk.wipe(keep=("meta.properties", "bootstrap.checkpoint"))
        _copy(last.disk.root / PARTITION_DIRECTORY, process.disk.root / PARTITION_DIRECTORY)
        assert "this replica votes again" in _end_recovery(process)
    keep_log(last.disk.root, _key(quorum, last))
    for process in quorum.processes.values():
        process.start()
    quorum.run_for(8_000)
    assert _log(quorum.led()).startswith(kept)
    quorum.append(quorum.led(), 1)
    quorum.run_for(1_000)
    assert quorum.agree()


@pytest.mark.prevents("restart-drops-committed")
def test_without_its_log_it_follows_and_votes_again(start_quorum: StartQuorum) -> None:
    """The operator has found out that the leader is right. What is given up is kept under another name."""
    quorum, last, size_bytes = last_copy(start_quorum, killed)
    last.start()
    quorum.run_for(5_000)
    give_up_log(last.disk.root, _key(quorum, last), 1_700_000_000_000)
    given_up = last.disk.root / "given-up-log-20231114T221320Z"
    assert sum(path.stat().st_size for path in given_up.glob("*.log")) == size_bytes
    last.start()
    assert last.partition.recovering_epoch is not None
    quorum.run_for(8_000)
    leader = quorum.led()
    assert last.raft.end_offset == leader.raft.end_offset
    assert last.partition.recovering_epoch is None


def _key(quorum: Quorum, process: ControllerProcess) -> ReplicaKey:
    return ReplicaKey(process.node_id, quorum.directory_ids[process.node_id])
