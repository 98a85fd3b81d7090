"""A recovery point of another directory.id beside a log: it proves nothing, so the replica recovers first.

As after meta.properties was written again, the recovery point of another node was copied, or a part of a
backup was restored. Votes may have been given, and records acknowledged, that these files do not show.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl.storage.end_of_recovery import end_recovery
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import NO_VOTERS, MetadataPartition
from kraftctl.storage.recovery_point import (
    FILE_NAME,
    RecoveryPointFile,
    create_recovery_point,
    read_recovery_point,
)
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl.storage.witness import FILE_NAME as WITNESS
from kraftctl.storage.witness import Witness
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, QUORUM_STATE
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID
from kraftctl_protocol.uuids import ONE_UUID, uuid_from_string
from tests.storage.batches import batch
from tests.support.file_states import Aftermath
from tests.support.partitions import DIRECTORY_ID, NODE_ID, always_now, kill, open_partition
from tests.support.simulator.disks.backup import Backup
from tests.support.simulator.disks.disk import ProcessEnded
from tests.support.simulator.disks.files import SimulatedFiles

OTHER_ID = uuid_from_string("TzUHEs1aSdqvjJVJ7jWF2w")
EPOCH = 4
END = 20
VOTE = ElectionState(epoch=EPOCH, voted_id=2, data_version=1)


def voters(*node_ids: int, directory_id: bytes | None = None) -> VoterSet:
    """This node in this directory, and others; static ones without a directory."""
    keys = [ReplicaKey(node_id) for node_id in node_ids]
    if directory_id is not None:
        ids = {NODE_ID: directory_id}
        keys = [ReplicaKey(node_id, ids.get(node_id, ONE_UUID)) for node_id in node_ids]
    return VoterSet([VoterNode(key, {"CONTROLLER": (f"host-{key.id}", 9093)}) for key in keys])


class Quorum(NamedTuple):
    """`static` of the configuration, or `dynamic` in the first checkpoint."""

    static: VoterSet = NO_VOTERS
    dynamic: VoterSet = NO_VOTERS

    def open(self, log_dir: Path) -> MetadataPartition:
        return open_partition(log_dir, static_voters=self.static)

    def format(self, log_dir: Path) -> None:
        if len(self.dynamic):
            batches = SnapshotBatches(0, 0)
            header = batches.header(0, 1, self.dynamic.to_record())
            store = SnapshotStore.open(log_dir / PARTITION_DIRECTORY)
            store.write(BOOTSTRAP_SNAPSHOT_ID, [header, batches.footer()])


STATIC = Quorum(static=voters(1, 2, 3))
STATIC_OBSERVER = Quorum(static=voters(2, 3, 4))
DYNAMIC = Quorum(dynamic=voters(1, 2, 3, directory_id=DIRECTORY_ID))
NEW_DIRECTORY = Quorum(dynamic=voters(1, 2, 3, directory_id=OTHER_ID))
ALONE = Quorum(static=voters(1))
ALONE_DYNAMIC = Quorum(dynamic=voters(1, directory_id=DIRECTORY_ID))
VOTERS = [pytest.param(STATIC, id="static"), pytest.param(DYNAMIC, id="dynamic")]
OBSERVERS = [pytest.param(STATIC_OBSERVER, id="static"), pytest.param(NEW_DIRECTORY, id="new-directory")]
ONLY_VOTERS = [pytest.param(ALONE, id="static"), pytest.param(ALONE_DYNAMIC, id="dynamic")]


def live(log_dir: Path, quorum: Quorum = STATIC, *, stops: bool = True) -> None:
    """20 records of epoch 3, then a vote."""
    quorum.format(log_dir)
    partition = quorum.open(log_dir)
    partition.write_quorum_state(ElectionState(epoch=3, leader_id=3, data_version=1))
    for offset in range(END):
        partition.log.append(batch(offset, epoch=3))
        partition.flush()
    partition.write_quorum_state(VOTE)
    if stops:
        partition.close()
    else:
        kill(partition)


Damage = Callable[[Path], object]


def of_another(**values: Any) -> Damage:
    """The recovery point says what it says, of another directory.id, but for these `values`."""

    def write(log_dir: Path) -> None:
        point = read_recovery_point(log_dir)
        assert point is not None
        (log_dir / FILE_NAME).unlink()
        file = RecoveryPointFile.open(log_dir, OTHER_ID, always_now)
        file.begin(point._replace(directory_id=OTHER_ID)._replace(**values))
        file.close(stopped=point.stopped)

    return write


def never_took_part(log_dir: Path) -> None:
    create_recovery_point(log_dir, OTHER_ID)


def witness_of_another(log_dir: Path) -> None:
    """The log was copied from another directory, votes included, into one that was formatted."""
    create_recovery_point(log_dir, DIRECTORY_ID)
    Witness(log_dir / PARTITION_DIRECTORY, OTHER_ID).leave()


def without_recovery_point(log_dir: Path) -> None:
    witness_of_another(log_dir)
    (log_dir / FILE_NAME).unlink()


FORMER = [
    pytest.param(of_another(), EPOCH, id="the-same"),
    pytest.param(never_took_part, 0, id="never-took-part"),
    pytest.param(of_another(quorum_epoch=9, voted_id=3), 9, id="later-epoch"),
    pytest.param(of_another(end_offset=END + 5), EPOCH, id="later-end"),
    pytest.param(of_another(quorum_epoch=2, log_epoch=2, end_offset=3), 2, id="earlier"),
    pytest.param(of_another(recovering=True), EPOCH, id="recovering"),
    pytest.param(of_another(recovering=True, log_is_whole=False), EPOCH, id="recovering-log"),
    pytest.param(of_another(elected=True), EPOCH, id="elected"),
]


def nothing(log_dir: Path) -> None: ...


def lose(name: str) -> Damage:
    return lambda log_dir: (log_dir / PARTITION_DIRECTORY / name).unlink()


def lose_last_record(log_dir: Path) -> None:
    path = next((log_dir / PARTITION_DIRECTORY).glob("*.log"))
    path.write_bytes(path.read_bytes()[: -len(batch(0))])


def lose_segments(log_dir: Path) -> None:
    for path in (log_dir / PARTITION_DIRECTORY).glob("*.log"):
        path.unlink()


LOSSES = [
    pytest.param(nothing, id="whole"),
    pytest.param(lose(WITNESS), id="after-another-controller"),
    pytest.param(lose(QUORUM_STATE), id="without-votes"),
    pytest.param(lose_last_record, id="a-record-less"),
    pytest.param(lose_segments, id="without-records"),
]


@pytest.mark.prevents("lost-log-votes")
@pytest.mark.parametrize("quorum", VOTERS)
@pytest.mark.parametrize("lose_some", LOSSES)
@pytest.mark.parametrize(("become_of_another", "epoch"), FORMER)
def test_it_does_not_vote_before_it_has_recovered(
    tmp_path: Path, become_of_another: Damage, epoch: int, lose_some: Damage, quorum: Quorum
) -> None:
    """Also after restarts; then it votes, and no line is left."""
    live(tmp_path, quorum, stops=quorum is STATIC)
    become_of_another(tmp_path)
    lose_some(tmp_path)
    _recovers_until_it_votes(tmp_path, quorum, epoch)


COPIED = [
    pytest.param(witness_of_another, id="into-a-formatted-directory"),
    pytest.param(without_recovery_point, id="beside-meta-properties-alone"),
]


@pytest.mark.prevents("lost-log-votes")
@pytest.mark.parametrize("quorum", VOTERS)
@pytest.mark.parametrize("lose_some", [nothing, lose(QUORUM_STATE), lose_last_record])
@pytest.mark.parametrize("copy", COPIED)
def test_a_log_that_another_replica_left_is_no_proof(
    tmp_path: Path, copy: Damage, lose_some: Damage, quorum: Quorum
) -> None:
    live(tmp_path, quorum, stops=quorum is STATIC)
    copy(tmp_path)
    lose_some(tmp_path)
    _recovers_until_it_votes(tmp_path, quorum, 0)


@pytest.mark.parametrize("copy", COPIED)
def test_a_log_that_kafka_s_controller_has_opened_votes(tmp_path: Path, copy: Damage) -> None:
    """As every directory of its: it has deleted the witness, and there are no promises of another replica."""
    live(tmp_path)
    copy(tmp_path)
    lose(WITNESS)(tmp_path)
    partition = STATIC.open(tmp_path)
    assert (partition.recovering_epoch, partition.warnings) == (None, [])


def _recovers_until_it_votes(tmp_path: Path, quorum: Quorum, epoch: int) -> None:
    has_votes = (tmp_path / PARTITION_DIRECTORY / QUORUM_STATE).exists()
    expected = max(epoch, EPOCH if has_votes else 0)
    for _ in range(2):
        partition = quorum.open(tmp_path)
        assert partition.recovering_epoch is not None
        assert partition.recovering_epoch >= expected
        assert sum("recovering and does not vote" in line for line in partition.warnings) == 1
        point = read_recovery_point(tmp_path)
        assert point is not None
        assert (point.directory_id, point.recovering) == (DIRECTORY_ID, True)
        kill(partition)
    partition = quorum.open(tmp_path)
    assert partition.recovering_epoch is not None
    epoch = partition.recovering_epoch + 1
    partition.write_quorum_state(ElectionState(epoch=epoch, leader_id=2, data_version=1))
    partition.note_recovered()
    partition.close()
    partition = quorum.open(tmp_path)
    assert (partition.recovering_epoch, partition.warnings) == (None, [])


@pytest.mark.parametrize("quorum", OBSERVERS)
@pytest.mark.parametrize("stops", [True, False], ids=["stopped", "killed"])
def test_an_observer_recovers_too(tmp_path: Path, quorum: Quorum, stops: bool) -> None:
    """It may become a voter while it runs."""
    live(tmp_path, quorum, stops=stops)
    of_another()(tmp_path)
    assert quorum.open(tmp_path).recovering_epoch == EPOCH


def test_the_line_names_file_directory_and_epoch(tmp_path: Path) -> None:
    live(tmp_path)
    of_another(quorum_epoch=9)(tmp_path)
    (line,) = STATIC.open(tmp_path).warnings
    assert line.startswith("This replica is recovering and does not vote: ")
    assert f"{tmp_path / FILE_NAME} is of an earlier replica, directory.id TzUHEs1aSdqvjJVJ7jWF2w" in line
    assert "from a leader of epoch 9 or later" in line
    assert "kraftctl end-recovery --help" in line


@pytest.mark.parametrize(
    ("become_of_another", "is_lost"),
    [
        pytest.param(of_another(), False, id="nothing-is-missing"),
        pytest.param(of_another(end_offset=END + 1), True, id="a-record-is-missing"),
        pytest.param(of_another(recovering=True, log_is_whole=False), True, id="it-was-missing-before"),
    ],
)
def test_an_operator_can_end_it_unless_records_are_missing(
    tmp_path: Path, become_of_another: Damage, is_lost: bool
) -> None:
    """Where all voters have such a directory, no leader is there to recover from."""
    live(tmp_path)
    become_of_another(tmp_path)
    partition = STATIC.open(tmp_path)
    with pytest.raises(StorageError, match="has lost records" if is_lost else "add --log-is-whole"):
        end_recovery(partition, log_is_whole=False)
    if is_lost:
        with pytest.raises(StorageError, match="has lost records"):
            end_recovery(partition, log_is_whole=True)
    else:
        assert "votes again" in end_recovery(partition, log_is_whole=True)


@pytest.mark.parametrize("quorum", ONLY_VOTERS)
def test_the_only_voter_starts_when_its_log_is_whole(tmp_path: Path, quorum: Quorum) -> None:
    """No other node can have been elected, and from none it could recover."""
    live(tmp_path, quorum)
    of_another()(tmp_path)
    partition = quorum.open(tmp_path)
    assert partition.recovering_epoch is None
    (line,) = partition.warnings
    assert "is of an earlier replica" in line
    assert "only voter" in line
    partition.close()
    assert quorum.open(tmp_path).warnings == []


@pytest.mark.parametrize("quorum", ONLY_VOTERS)
@pytest.mark.parametrize("lose_some", [lose_last_record, lose_segments])
def test_the_only_voter_does_not_start_when_records_are_missing(
    tmp_path: Path, quorum: Quorum, lose_some: Damage
) -> None:
    live(tmp_path, quorum)
    of_another()(tmp_path)
    lose_some(tmp_path)
    for _ in range(2):
        with pytest.raises(StorageError, match=rf"up to offset {END}.*only voter.*restore the directory"):
            quorum.open(tmp_path)


def test_the_only_voter_gets_its_directory_id_back(tmp_path: Path) -> None:
    """As the line advises that refuses the wrong one: the start in between has written its own file."""
    live(tmp_path, ALONE_DYNAMIC)
    partition = MetadataPartition.open(tmp_path, ReplicaKey(NODE_ID, OTHER_ID), now_ms=always_now)
    assert partition.recovering_epoch is not None
    partition.close()
    partition = ALONE_DYNAMIC.open(tmp_path)
    assert partition.recovering_epoch is None
    assert partition.log.end_offset == END


def _remove_partition(log_dir: Path) -> None:
    shutil.rmtree(log_dir / PARTITION_DIRECTORY)


@pytest.mark.parametrize(
    ("quorum", "become_of_another", "recovers"),
    [
        pytest.param(STATIC, of_another(), True, id="static-voter"),
        pytest.param(STATIC, of_another(recovering=True), True, id="static-voter-that-recovered"),
        pytest.param(STATIC, never_took_part, False, id="static-voter-before-its-first-start"),
        pytest.param(STATIC_OBSERVER, of_another(), False, id="static-observer"),
        pytest.param(DYNAMIC, of_another(), False, id="new-voter"),
        pytest.param(NEW_DIRECTORY, of_another(), False, id="observer"),
        pytest.param(ALONE_DYNAMIC, of_another(), False, id="new-cluster"),
    ],
)
def test_without_a_log_only_a_static_voter_has_promised_anything(
    tmp_path: Path, quorum: Quorum, become_of_another: Damage, recovers: bool
) -> None:
    """Its node id identifies it. A directory that was formatted again is a new replica of other quorums."""
    live(tmp_path, quorum)
    become_of_another(tmp_path)
    _remove_partition(tmp_path)
    quorum.format(tmp_path)
    partition = quorum.open(tmp_path)
    assert (partition.recovering_epoch is not None) == recovers, partition.warnings
    assert ["is of an earlier replica" in line for line in partition.warnings] == [True]


def test_the_only_static_voter_does_not_start_without_its_log(tmp_path: Path) -> None:
    live(tmp_path, ALONE)
    of_another()(tmp_path)
    _remove_partition(tmp_path)
    with pytest.raises(StorageError, match=rf"up to offset {END}.*only voter"):
        ALONE.open(tmp_path)


@pytest.mark.prevents("lost-log-votes")
@pytest.mark.parametrize("aftermath", list(Aftermath))
@pytest.mark.parametrize("quorum", [pytest.param(STATIC, id="static"), pytest.param(DYNAMIC, id="dynamic")])
def test_a_power_failure_during_the_start_is_no_proof_either(
    tmp_path: Path, quorum: Quorum, aftermath: Aftermath
) -> None:
    """At each call that changes a file."""
    live(tmp_path, quorum, stops=False)
    of_another()(tmp_path)
    before = Backup.read(tmp_path)
    for calls in range(1_000):
        files = SimulatedFiles()
        disk = files.disk("node-1")
        with files.attach():
            disk.restore(before)
            disk.calls_left = calls
            has_ended = False
            try:
                quorum.open(disk.root)
            except ProcessEnded:
                has_ended = True
            disk.calls_left = None
            disk.lose_power(aftermath, random.Random(calls))
            partition = quorum.open(disk.root)
            assert partition.recovering_epoch is not None, f"after {calls} calls: {partition.warnings}"
        if not has_ended:
            assert calls > 5
            return
    raise AssertionError("the start does not end")
