"""`kraftctl end-recovery`: what it changes, and what it refuses with nothing changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl.storage.directory_lock import DirectoryLock
from kraftctl.storage.end_of_recovery import EPOCHS_PASSED
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl.storage.recovery_point import FILE_NAME as RECOVERY_POINT
from kraftctl.storage.recovery_point import RecoveryPoint, RecoveryPointFile, read_recovery_point
from kraftctl.storage.witness import FILE_NAME as WITNESS
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, QUORUM_STATE
from kraftctl_protocol.peer_limits import EPOCH_MAX
from tests.storage.batches import batch
from tests.support.partitions import open_partition

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
THREE = VoterSet([VoterNode(ReplicaKey(node_id), {}) for node_id in (1, 2, 3)])
EPOCH = 4


class Voter:
    """One of three static voters, with a log, votes and a properties file."""

    def __init__(self, directory: Path, node_id: int = 1) -> None:
        self.directory = directory / "data"
        self.partition = self.directory / PARTITION_DIRECTORY
        self.file = directory / "server.properties"
        self.write_properties(node_id)
        assert main(["format", "-t", CLUSTER_ID, "-c", str(self.file)]) == 0
        partition = open_partition(self.directory, static_voters=THREE)
        partition.write_quorum_state(ElectionState(epoch=EPOCH, voted_id=2, current_voters=[1, 2, 3]))
        for offset in range(10):
            partition.log.append(batch(offset, epoch=EPOCH))
            partition.flush()
        partition.close()

    def write_properties(self, node_id: int) -> None:
        self.file.write_text(
            f"process.roles=controller\nnode.id={node_id}\nlog.dirs={self.directory}\n"
            "listeners=CONTROLLER://localhost:9093\ncontroller.listener.names=CONTROLLER\n"
            "controller.quorum.voters=1@localhost:9093,2@localhost:9094,3@localhost:9095\n"
        )

    def lose_votes(self) -> None:
        """With another controller in between."""
        (self.partition / QUORUM_STATE).unlink()
        (self.partition / WITNESS).unlink()

    def recovers(self) -> bool:
        partition = open_partition(self.directory, static_voters=THREE)
        partition.close()
        return partition.recovering_epoch is not None

    def begin_recovery_of(self, point: RecoveryPoint) -> None:
        known = read_recovery_point(self.directory)
        assert known is not None
        file = RecoveryPointFile.open(self.directory, known.directory_id, lambda: 0)
        file.begin(point._replace(directory_id=known.directory_id))
        file.close(stopped=True)


@pytest.fixture
def voter(tmp_path: Path) -> Voter:
    return Voter(tmp_path)


def _end(voter: Voter, *flags: str) -> int:
    return main(["end-recovery", "-c", str(voter.file), *flags])


def test_it_votes_again_in_later_epochs_alone(voter: Voter, capsys: pytest.CaptureFixture[str]) -> None:
    voter.lose_votes()
    assert voter.recovers()
    assert _end(voter) == 0
    output = capsys.readouterr()
    assert f"this replica votes again, after epoch {EPOCH + EPOCHS_PASSED}" in output.out
    assert "does not vote" in output.err
    state = QuorumStateStore(voter.partition).read()
    assert state is not None
    assert (state.epoch, state.leader_id, state.voted_id) == (EPOCH + EPOCHS_PASSED, -1, -1)
    assert not voter.recovers()
    (voter.partition / QUORUM_STATE).unlink()
    assert not voter.recovers(), "what it has written is as good as any other vote"


def test_it_changes_nothing_where_nothing_is_lost(voter: Voter, capsys: pytest.CaptureFixture[str]) -> None:
    before = (voter.partition / QUORUM_STATE).read_bytes()
    assert _end(voter) == 0
    assert "is not recovering, it votes: nothing was changed" in capsys.readouterr().out
    assert (voter.partition / QUORUM_STATE).read_bytes() == before


def test_it_does_not_go_back_behind_the_votes_of_another_controller(voter: Voter) -> None:
    """One in more elections than it raises the epoch by, of which the recovery point knows nothing."""
    voter.begin_recovery_of(RecoveryPoint(b"", EPOCH, recovering=True, log_is_whole=True))
    voted_in = EPOCH + EPOCHS_PASSED + 1
    vote = ElectionState(epoch=voted_in, voted_id=2, current_voters=[1, 2, 3])
    QuorumStateStore(voter.partition).write(vote)
    assert _end(voter) == 0
    state = QuorumStateStore(voter.partition).read()
    assert state is not None
    assert state.epoch > voted_in
    assert not voter.recovers()


def test_it_asks_where_an_earlier_release_began_to_recover(
    voter: Voter, capsys: pytest.CaptureFixture[str]
) -> None:
    """That one did not note whether the log was lost as well."""
    (voter.partition / QUORUM_STATE).unlink()
    voter.begin_recovery_of(RecoveryPoint(b"", EPOCH, recovering=True))
    assert _end(voter) == 1
    assert "add --log-is-whole" in capsys.readouterr().err
    assert voter.recovers()
    assert _end(voter, "--log-is-whole") == 0
    assert not voter.recovers()


def lose_log(voter: Voter) -> None:
    voter.lose_votes()
    for path in voter.partition.glob("*.log"):
        path.unlink()


def lose_end_of_log(voter: Voter) -> None:
    voter.lose_votes()
    path = next(voter.partition.glob("*.log"))
    path.write_bytes(path.read_bytes()[: -len(batch(0))])


def lose_partition(voter: Voter) -> None:
    for path in voter.partition.iterdir():
        path.unlink()
    voter.partition.rmdir()


def lose_log_after_votes(voter: Voter) -> None:
    voter.lose_votes()
    assert voter.recovers()
    next(voter.partition.glob("*.log")).write_bytes(b"")


def lose_recovery_point(voter: Voter) -> None:
    voter.lose_votes()
    (voter.directory / RECOVERY_POINT).unlink()


def use_up_epochs(voter: Voter) -> None:
    voter.lose_votes()
    voter.begin_recovery_of(RecoveryPoint(b"", EPOCH_MAX - 1, recovering=True, log_is_whole=True))


def be_another_node(voter: Voter) -> None:
    voter.lose_votes()
    voter.write_properties(2)


def lose_identity(voter: Voter) -> None:
    voter.lose_votes()
    (voter.directory / "meta.properties").unlink()


REFUSED = [
    pytest.param(lose_log, ["--log-is-whole"], "has lost records, not only its votes", id="log-is-gone"),
    pytest.param(lose_end_of_log, ["--log-is-whole"], "has lost records", id="log-is-cut"),
    pytest.param(lose_log_after_votes, ["--log-is-whole"], "has lost records", id="log-is-gone-later"),
    pytest.param(lose_partition, ["--log-is-whole"], "without a log this controller must not", id="no-log"),
    pytest.param(lose_recovery_point, [], "add --log-is-whole", id="no-recovery-point"),
    pytest.param(use_up_epochs, [], "no election could follow", id="epochs-used-up"),
    pytest.param(be_another_node, [], "node.id", id="another-node"),
    pytest.param(lose_identity, [], "has no meta.properties", id="no-identity"),
]


@pytest.mark.prevents("deleted-quorum-state")
@pytest.mark.parametrize(("damage", "flags", "text"), REFUSED)
def test_refused(
    voter: Voter,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[Voter], None],
    flags: list[str],
    text: str,
) -> None:
    """With one line that says why, and again at the next attempt: it still recovers."""
    damage(voter)
    for _ in range(2):
        assert _end(voter, *flags) == 1
        line = capsys.readouterr().err.splitlines()[-1]
        assert re.search(text, line), line
        assert line.startswith("kraftctl end-recovery: ")
    assert not (voter.partition / QUORUM_STATE).exists()


def test_a_directory_in_use_is_refused(voter: Voter, capsys: pytest.CaptureFixture[str]) -> None:
    voter.lose_votes()
    lock = DirectoryLock.acquire(voter.directory)
    try:
        assert _end(voter) == 1
    finally:
        lock.release()
    assert "is in use" in capsys.readouterr().err


def test_help_says_that_data_can_be_lost(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["end-recovery", "--help"])
    assert "DATA CAN BE LOST if" in capsys.readouterr().out
