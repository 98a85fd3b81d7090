"""A follower has the last copy of committed records, and its leader wants it to drop them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.storage.end_of_halt import give_up_log, keep_log
from kraftctl.storage.halt import FILE_NAME as HALT_FILE
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl.storage.recovery_point import FILE_NAME as RECOVERY_POINT
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.quorum import Quorum, StartQuorum

VOTERS = [1, 2, 3]
LATER_EPOCH = 50

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
    """As Kafka's controllers do it without a trace: they come back empty, in a later epoch."""
    others = [each for each in quorum.processes.values() if each is not last]
    for process in others:
        if process.lifetime is not None:
            process.kill()
        process.disk.wipe(keep=("meta.properties", "bootstrap.checkpoint"))
        process.start()
    for process in others:
        process.kill()
        QuorumStateStore(process.disk.root / PARTITION_DIRECTORY).write(
            ElectionState(epoch=LATER_EPOCH, current_voters=VOTERS)
        )
        process.start()
    quorum.run_for(8_000)
    assert quorum.led() is not last


def last_copy(
    start_quorum: StartQuorum, end: End, *, leader_has_snapshot: bool = False
) -> tuple[Quorum, ControllerProcess, int]:
    """A quorum whose leader lacks committed records, the one that has them, which is down, and its end."""
    quorum = start_quorum(3, VOTERS, dynamic=False, checked=False)
    for _ in range(6):
        quorum.append(quorum.led(), 5)
        quorum.run_for(100)
    last = quorum.followers()[0]
    last.on_failure = lambda process, error: None
    end(quorum, last)
    others_lose_their_directories(quorum, last)
    if leader_has_snapshot:
        quorum.take_snapshot(quorum.led())
    return quorum, last, _end_offset(last)


def _end_offset(process: ControllerProcess) -> int:
    segments = sorted((process.disk.root / PARTITION_DIRECTORY).glob("*.log"))
    return sum(segment.stat().st_size for segment in segments)


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
    assert _end_offset(last) == size_bytes
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
        quorum.run_for(1_000)
    assert {path: path.read_bytes() for path in last.disk.root.rglob("*") if path.is_file()} == content
    assert _end_offset(last) == size_bytes


@pytest.mark.prevents("restart-drops-committed")
def test_with_its_log_it_leads_the_others(start_quorum: StartQuorum) -> None:
    """The operator has found out that its log is right, and replaces the disks of the others."""
    quorum, last, _ = last_copy(start_quorum, killed)
    last.start()
    quorum.run_for(5_000)
    keep_log(last.disk.root, _key(quorum, last))
    others = [each for each in quorum.processes.values() if each is not last]
    for process in others:
        process.kill()
        process.disk.wipe(keep=("meta.properties", "bootstrap.checkpoint", RECOVERY_POINT))
    last.start()
    others[0].start()
    quorum.run_for(1_000)
    assert last.lifetime is not None
    assert last.partition.committed_end >= 30


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
