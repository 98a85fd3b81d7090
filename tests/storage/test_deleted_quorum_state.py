"""A supervisor deletes quorum-state before a start, as Strimzi's start script does (docs/adr/0006).

Where nothing but kraftctl has opened the log since, the file is written again with what it said; of the
leaders that it named, only this replica. Otherwise this replica does not vote until it has recovered.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl.storage.recovery_point import (
    BLOCK_BYTES,
    RecoveryPoint,
    RecoveryPointFile,
    read_recovery_point,
)
from kraftctl.storage.recovery_point import FILE_NAME as RECOVERY_POINT
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl.storage.witness import FILE_NAME as WITNESS
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, QUORUM_STATE
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.uuids import ONE_UUID, uuid_from_string, uuid_to_string
from tests.storage.batches import batch
from tests.support.partitions import DIRECTORY_ID, NODE_ID, always_now, kill, open_partition

OTHER = uuid_from_string("TzUHEs1aSdqvjJVJ7jWF2w")
ALONE = VoterSet([VoterNode(ReplicaKey(NODE_ID), {})])
THREE = VoterSet([VoterNode(ReplicaKey(node_id), {}) for node_id in (1, 2, 3)])
OTHERS = VoterSet([VoterNode(ReplicaKey(node_id), {}) for node_id in (2, 3, 4)])

CANDIDATE = ElectionState(epoch=4, voted_id=NODE_ID, voted_directory_id=DIRECTORY_ID, data_version=1)
LEADER = ElectionState(epoch=4, leader_id=NODE_ID, data_version=1)
STATIC_CANDIDATE = ElectionState(epoch=4, voted_id=NODE_ID, current_voters=[1, 2, 3])
VOTE = ElectionState(epoch=4, voted_id=2, voted_directory_id=OTHER, data_version=1)


def _follower(of: ElectionState) -> ElectionState:
    return ElectionState(
        epoch=of.epoch,
        leader_id=3,
        voted_id=of.voted_id,
        voted_directory_id=of.voted_directory_id,
        data_version=of.data_version,
    )


STATES = [
    pytest.param([ElectionState(epoch=4, data_version=1)], id="no-vote"),
    pytest.param([ElectionState(epoch=4, current_voters=[1, 2, 3])], id="static-no-vote"),
    pytest.param([VOTE], id="vote"),
    pytest.param([ElectionState(epoch=4, data_version=1), VOTE], id="vote-in-a-known-epoch"),
    pytest.param([ElectionState(epoch=4, voted_id=2, current_voters=[1, 2, 3])], id="static-vote"),
    pytest.param([CANDIDATE], id="candidate"),
    pytest.param([STATIC_CANDIDATE], id="static-candidate"),
    pytest.param([VOTE, _follower(VOTE)], id="follower-that-voted"),
    pytest.param([CANDIDATE, _follower(CANDIDATE)], id="follower-that-was-a-candidate"),
    pytest.param([ElectionState(epoch=4, leader_id=3, data_version=1)], id="follower-without-vote"),
    pytest.param([CANDIDATE, LEADER], id="leader"),
    pytest.param(
        [STATIC_CANDIDATE, ElectionState(epoch=4, leader_id=NODE_ID, current_voters=[1, 2, 3])],
        id="static-leader",
    ),
    pytest.param([VOTE, ElectionState(epoch=9, data_version=1)], id="vote-of-an-earlier-epoch"),
    pytest.param([CANDIDATE, LEADER, ElectionState(epoch=9, data_version=1)], id="former-leader"),
    pytest.param(
        [CANDIDATE, LEADER, ElectionState(epoch=9, voted_id=2, voted_directory_id=OTHER, data_version=1)],
        id="former-leader-that-voted",
    ),
]


def live(log_dir: Path, states: list[ElectionState] | None = None) -> MetadataPartition:
    """20 records of epoch 3, then these elections; what is returned is still running."""
    partition = open_partition(log_dir, static_voters=THREE)
    partition.write_quorum_state(ElectionState(epoch=3, voted_id=2, data_version=1))
    for offset in range(20):
        partition.log.append(batch(offset, epoch=3))
        partition.flush()
    for state in [VOTE] if states is None else states:
        partition.write_quorum_state(state)
    return partition


def end(partition: MetadataPartition, *, stops: bool) -> None:
    if stops:
        partition.close()
    else:
        partition.log.append(batch(partition.log.end_offset, epoch=3))
        partition.log.flush()  # written, and not yet in the recovery point
        kill(partition)


def delete_quorum_state(log_dir: Path) -> None:
    (log_dir / PARTITION_DIRECTORY / QUORUM_STATE).unlink()


def _said(state: ElectionState | None) -> tuple[int, int, int, bytes]:
    """What a restart must know of it: a leader other than this replica is found again."""
    assert state is not None
    leader_id = state.leader_id if state.leader_id == NODE_ID else -1
    return state.epoch, leader_id, state.voted_id, state.voted_directory_id


@pytest.mark.prevents("deleted-quorum-state")
@pytest.mark.parametrize("stops", [True, False], ids=["stopped", "killed"])
@pytest.mark.parametrize("states", STATES)
def test_it_is_written_again_with_what_it_said(
    tmp_path: Path, states: list[ElectionState], stops: bool
) -> None:
    """Also at the second start: what was written again is as good as what was deleted."""
    partition = live(tmp_path, states)
    for _ in range(2):
        end(partition, stops=stops)
        delete_quorum_state(tmp_path)
        partition = open_partition(tmp_path, static_voters=THREE)
        assert partition.recovering_epoch is None, partition.warnings
        assert _said(partition.read_quorum_state()) == _said(states[-1])
        (notice,) = partition.notices
        assert f"It is written again with epoch {states[-1].epoch} and " in notice
        assert "\n" not in notice
    end(partition, stops=stops)
    assert open_partition(tmp_path, static_voters=THREE).warnings == []


@pytest.mark.prevents("deleted-quorum-state")
@pytest.mark.parametrize("stops", [True, False], ids=["stopped", "killed"])
@pytest.mark.parametrize("states", STATES)
def test_a_restart_in_between_forgets_nothing(
    tmp_path: Path, states: list[ElectionState], stops: bool
) -> None:
    """quorum-state of a leader names no vote: what is known of the vote must not be replaced by that."""
    end(live(tmp_path, states), stops=stops)
    end(open_partition(tmp_path, static_voters=THREE), stops=stops)
    delete_quorum_state(tmp_path)
    partition = open_partition(tmp_path, static_voters=THREE)
    assert partition.recovering_epoch is None, partition.warnings
    assert _said(partition.read_quorum_state()) == _said(states[-1])


@pytest.mark.parametrize("voters", [ALONE, THREE, OTHERS], ids=["only-voter", "voter", "observer"])
def test_whatever_its_part_in_the_quorum(tmp_path: Path, voters: VoterSet) -> None:
    live(tmp_path).close()
    delete_quorum_state(tmp_path)
    partition = open_partition(tmp_path, static_voters=voters)
    assert partition.recovering_epoch is None
    assert _said(partition.read_quorum_state()) == _said(VOTE)


def test_a_vote_before_the_first_record(tmp_path: Path) -> None:
    partition = open_partition(tmp_path, static_voters=THREE)
    partition.write_quorum_state(VOTE)
    kill(partition)
    delete_quorum_state(tmp_path)
    partition = open_partition(tmp_path, static_voters=THREE)
    assert partition.recovering_epoch is None
    assert _said(partition.read_quorum_state()) == _said(VOTE)


@pytest.mark.prevents("deleted-quorum-state")
@pytest.mark.parametrize("epoch", [1, 4])
def test_a_bare_vote_without_the_recovery_point(tmp_path: Path, epoch: int) -> None:
    """The witness says that the recovery point is current: without it, nothing knows the vote."""
    partition = open_partition(tmp_path, static_voters=THREE)
    partition.write_quorum_state(ElectionState(epoch=epoch, voted_id=2, data_version=1))
    partition.close()
    delete_quorum_state(tmp_path)
    forget_the_promises(tmp_path)
    partition = open_partition(tmp_path, static_voters=THREE)
    assert partition.recovering_epoch is not None
    (warning,) = [line for line in partition.warnings if "does not vote" in line]
    assert f"and with it the votes; {tmp_path / RECOVERY_POINT} is missing, too" in warning


@pytest.mark.prevents("deleted-quorum-state")
def test_a_start_that_is_refused_does_not_vouch_for_the_vote(tmp_path: Path) -> None:
    """Nor does one that ends before it has judged: the next one knows as little as this one."""
    partition = open_partition(tmp_path, static_voters=THREE)
    partition.write_quorum_state(ElectionState(epoch=4, voted_id=2, data_version=1))
    partition.close()
    forget_the_promises(tmp_path)
    for damaged in ("quorum-state", "leader-epoch-checkpoint"):
        (tmp_path / PARTITION_DIRECTORY / damaged).write_text("damaged")
        with pytest.raises(StorageError, match=damaged):
            open_partition(tmp_path, static_voters=THREE)
        (tmp_path / PARTITION_DIRECTORY / damaged).unlink()
    assert open_partition(tmp_path, static_voters=THREE).recovering_epoch is not None


def test_a_power_failure_between_the_two_writes_of_a_vote(tmp_path: Path) -> None:
    """No other node has heard of the vote that is in quorum-state alone: it may be forgotten."""
    partition = live(tmp_path)
    later = ElectionState(epoch=5, voted_id=3, voted_directory_id=OTHER, data_version=1)
    partition.quorum_state.write(later)
    kill(partition)
    delete_quorum_state(tmp_path)
    partition = open_partition(tmp_path, static_voters=THREE)
    assert partition.recovering_epoch is None
    assert _said(partition.read_quorum_state()) == _said(VOTE)


def test_a_directory_of_kafka_s_has_a_witness_after_its_first_start(tmp_path: Path) -> None:
    live(tmp_path).close()
    (tmp_path / RECOVERY_POINT).unlink()
    (tmp_path / PARTITION_DIRECTORY / WITNESS).unlink()
    kill(open_partition(tmp_path, static_voters=THREE))
    delete_quorum_state(tmp_path)
    partition = open_partition(tmp_path, static_voters=THREE)
    assert partition.recovering_epoch is None
    assert _said(partition.read_quorum_state()) == _said(VOTE)


def _leave(name: str, content: str = "") -> Callable[[Path], object]:
    return lambda directory: (directory / name).write_text(content)


TOPIC_ID = uuid_to_string(ONE_UUID)


@pytest.mark.parametrize(
    ("leave", "has_been_used"),
    [
        pytest.param(_leave("00000000000000000000.log"), True, id="empty-segment"),
        pytest.param(_leave("00000000000000000000.timeindex"), True, id="index"),
        pytest.param(_leave("leader-epoch-checkpoint", "0\n0\n"), True, id="leader-epochs"),
        pytest.param(_leave("partition.metadata", f"version: 0\ntopic_id: {TOPIC_ID}"), True, id="metadata"),
        pytest.param(_leave(WITNESS), True, id="witness"),
        pytest.param(lambda directory: None, False, id="empty-directory"),
        pytest.param(lambda directory: directory.rmdir(), False, id="no-directory"),
        pytest.param(_leave("00000000000000000000-0000000000.checkpoint.part"), False, id="being-formatted"),
    ],
)
@pytest.mark.parametrize("voters", [ALONE, THREE], ids=["only-voter", "voter"])
def test_it_counts_as_used_before_its_first_record(
    tmp_path: Path, leave: Callable[[Path], object], has_been_used: bool, voters: VoterSet
) -> None:
    """Kafka's controller creates these when it starts: it may have voted, and quorum-state is gone."""
    partition = tmp_path / PARTITION_DIRECTORY
    partition.mkdir()
    leave(partition)
    opened = open_partition(tmp_path, static_voters=voters)
    assert (opened.recovering_epoch is not None) == (has_been_used and voters is THREE), opened.warnings


def append(epoch: int) -> Callable[[Path], None]:
    def append_to(log_dir: Path) -> None:
        with next((log_dir / PARTITION_DIRECTORY).glob("*.log")).open("ab") as file:
            file.write(batch(20, epoch))

    return append_to


def cut(log_dir: Path) -> None:
    path = next((log_dir / PARTITION_DIRECTORY).glob("*.log"))
    path.write_bytes(path.read_bytes()[: -len(batch(0))])


def empty(log_dir: Path) -> None:
    next((log_dir / PARTITION_DIRECTORY).glob("*.log")).write_bytes(b"")


def delete_witness(log_dir: Path) -> None:
    (log_dir / PARTITION_DIRECTORY / WITNESS).unlink()


def replace_witness(content: bytes) -> Callable[[Path], None]:
    def replace(log_dir: Path) -> None:
        (log_dir / PARTITION_DIRECTORY / WITNESS).write_bytes(content)

    return replace


def add_a_later_epoch(log_dir: Path) -> None:
    path = log_dir / PARTITION_DIRECTORY / "leader-epoch-checkpoint"
    path.write_text("0\n2\n3 0\n6 20\n")


def change_an_epoch(log_dir: Path) -> None:
    path = log_dir / PARTITION_DIRECTORY / "leader-epoch-checkpoint"
    path.write_text("0\n2\n2 0\n3 10\n")


def add_a_later_snapshot(log_dir: Path) -> None:
    content = SnapshotBatches(6, 0)
    store = SnapshotStore(log_dir / PARTITION_DIRECTORY)
    store.write(OffsetAndEpoch(15, 6), [content.header(0), content.footer()], 0)


def forget_the_promises(log_dir: Path) -> None:
    (log_dir / RECOVERY_POINT).unlink()


def still_recover(log_dir: Path) -> None:
    file = RecoveryPointFile.open(log_dir, DIRECTORY_ID, always_now)
    file.begin(RecoveryPoint(DIRECTORY_ID, quorum_epoch=4, recovering=True))


DOUBTS = [
    pytest.param(delete_witness, True, "another controller may have voted since: ", id="no-witness"),
    pytest.param(replace_witness(b""), True, "may have voted since", id="empty-witness"),
    pytest.param(
        replace_witness(b"directory.id=TzUHEs1aSdqvjJVJ7jWF2w\n"),
        True,
        "is of an earlier replica",
        id="witness-of-another-replica",
    ),
    pytest.param(
        append(3), True, "the log ends at offset 21, when it was stopped it ended at 20", id="record"
    ),
    pytest.param(append(6), True, "has epoch 6, and .* only knows epoch 4", id="record-of-a-later-epoch"),
    pytest.param(add_a_later_epoch, True, "has epoch 6, and .* only knows epoch 4", id="later-epoch"),
    pytest.param(add_a_later_snapshot, True, "has epoch 6, and .* only knows epoch 4", id="later-snapshot"),
    pytest.param(cut, False, "ends at offset 19 .* everything was durable", id="log-is-cut"),
    pytest.param(empty, False, "the log in .* is gone", id="log-is-gone"),
    pytest.param(forget_the_promises, None, "recovery-point is missing, too", id="no-recovery-point"),
    pytest.param(still_recover, None, "it stopped before it had fetched everything", id="recovering"),
]


@pytest.mark.prevents("deleted-quorum-state")
@pytest.mark.parametrize(("change", "log_is_whole", "text"), DOUBTS)
def test_in_doubt_it_does_not_vote(
    tmp_path: Path, change: Callable[[Path], None], log_is_whole: bool | None, text: str
) -> None:
    """After a clean stop. The line says why, and which way out there is."""
    live(tmp_path).close()
    delete_quorum_state(tmp_path)
    change(tmp_path)
    for is_first in (True, False):
        partition = open_partition(tmp_path, static_voters=THREE)
        assert partition.recovering_epoch is not None
        (notice,) = [notice for notice in partition.warnings if "does not vote" in notice]
        assert ("kraftctl end-recovery" in notice) == (log_is_whole is not False), notice
        if is_first:
            assert re.search(text, notice), notice
        point = read_recovery_point(tmp_path)
        assert point is not None
        assert (point.recovering, point.log_is_whole) == (True, log_is_whole)
        assert partition.read_quorum_state() is None
        partition.close()


def flip_in_line(number: int) -> Callable[[Path], None]:
    def flip(log_dir: Path) -> None:
        content = bytearray((log_dir / RECOVERY_POINT).read_bytes())
        content[number * BLOCK_BYTES + 70] ^= 1
        (log_dir / RECOVERY_POINT).write_bytes(content)

    return flip


def cut_the_promises(log_dir: Path) -> None:
    content = (log_dir / RECOVERY_POINT).read_bytes()
    (log_dir / RECOVERY_POINT).write_bytes(content[:-1])


@pytest.mark.parametrize(
    "damage", [flip_in_line(0), flip_in_line(1), cut_the_promises], ids=["0", "1", "cut"]
)
def test_one_damaged_line_of_the_recovery_point_costs_no_vote(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """What is written after a vote repeats it: soon both lines have it."""
    live(tmp_path).close()
    delete_quorum_state(tmp_path)
    damage(tmp_path)
    partition = open_partition(tmp_path, static_voters=THREE)
    assert partition.recovering_epoch is None
    assert _said(partition.read_quorum_state()) == _said(VOTE)


def test_changed_epochs_in_front_are_a_contradiction(tmp_path: Path) -> None:
    """As with quorum-state: the log or another file was changed, and neither says anything of votes."""
    live(tmp_path).close()
    delete_quorum_state(tmp_path)
    change_an_epoch(tmp_path)
    with pytest.raises(StorageError, match=r"leader-epoch-checkpoint says .*Next step"):
        open_partition(tmp_path, static_voters=THREE)


def test_the_only_voter_starts_in_doubt_too(tmp_path: Path) -> None:
    """No other node can have been elected."""
    live(tmp_path).close()
    delete_quorum_state(tmp_path)
    delete_witness(tmp_path)
    partition = open_partition(tmp_path, static_voters=ALONE)
    assert partition.recovering_epoch is None
    assert _said(partition.read_quorum_state())[0] == 4


def test_a_copy_from_before_it_was_elected_is_refused(tmp_path: Path) -> None:
    """It would be a candidate again, and could lead a second time in the epoch that it has led."""
    partition = live(tmp_path / "data", [CANDIDATE])
    path = partition.quorum_state.path
    shutil.copy(path, tmp_path / "candidate")
    partition.write_quorum_state(LEADER)
    partition.close()
    shutil.copy(tmp_path / "candidate", path)
    text = r"does not say that this replica was elected in epoch 4 .*older copy.*Next step"
    with pytest.raises(StorageError, match=text):
        open_partition(tmp_path / "data", static_voters=THREE)


def test_the_witness_is_durable_before_the_first_vote(tmp_path: Path) -> None:
    """And stays as it is: no start writes it again."""
    kill(open_partition(tmp_path, static_voters=THREE))
    path = tmp_path / PARTITION_DIRECTORY / WITNESS
    before = path.stat()
    kill(open_partition(tmp_path, static_voters=THREE))
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
