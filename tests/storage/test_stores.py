"""The small files beside the log: read from bytes of Java, written back identically, or refused."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from kraftctl.metadata import features
from kraftctl.raft.election_state import ElectionState
from kraftctl.storage.bootstrap_checkpoint import read_bootstrap_checkpoint, write_bootstrap_checkpoint
from kraftctl.storage.directory_lock import DirectoryLock
from kraftctl.storage.errors import StorageError
from kraftctl.storage.leader_epoch_checkpoint import read_leader_epochs, write_leader_epochs
from kraftctl.storage.meta_properties import (
    MetaPropertiesEnsemble,
    load_meta_properties,
    read_meta_properties,
    write_meta_properties,
)
from kraftctl.storage.partition_metadata import ensure_partition_metadata
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.record_batch import read_batches
from kraftctl_protocol.uuids import uuid_from_string

JAVA_DIR = Path(__file__).parents[1] / "data" / "kafka-4.3.1" / "formatted"
DIRECTORY_ID = uuid_from_string("bGzDaR4ySNmJaPXzonU2CA")

QUORUM_STATE_V0 = (
    '{"clusterId":"","leaderId":4000,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,'
    '"currentVoters":[{"voterId":4000}],"data_version":0}'
)
QUORUM_STATE_V1 = (
    '{"leaderId":3000,"leaderEpoch":1,"votedId":-1,'
    '"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
)


@pytest.mark.parametrize("text", [QUORUM_STATE_V0, QUORUM_STATE_V1], ids=["v0", "v1"])
def test_quorum_state_round_trip(tmp_path: Path, text: str) -> None:
    store = QuorumStateStore(tmp_path)
    assert store.read() is None
    store.path.write_text(text)
    state = store.read()
    assert state is not None
    assert (state.epoch, state.leader_id, state.voted_id) == (1, json.loads(text)["leaderId"], -1)
    store.path.unlink()
    store.write(state)
    assert store.path.read_text() == text


def test_quorum_state_keeps_a_vote(tmp_path: Path) -> None:
    store = QuorumStateStore(tmp_path)
    store.write(ElectionState(epoch=7, voted_id=2, voted_directory_id=DIRECTORY_ID, data_version=1))
    state = store.read()
    assert state is not None
    assert (state.epoch, state.voted_id, state.voted_directory_id) == (7, 2, DIRECTORY_ID)


def test_leftover_of_an_interrupted_write_is_ignored(tmp_path: Path) -> None:
    store = QuorumStateStore(tmp_path)
    (tmp_path / "quorum-state.tmp").write_text('{"half')
    assert store.read() is None
    store.write(ElectionState(epoch=1))
    assert list(tmp_path.iterdir()) == [store.path]


@pytest.mark.prevents("KAFKA-15412")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(QUORUM_STATE_V1[:-5], id="cut"),
        pytest.param("[]", id="not-an-object"),
        pytest.param(QUORUM_STATE_V1.replace('"data_version":1', '"data_version":2'), id="unknown-version"),
        pytest.param(QUORUM_STATE_V1.replace(',"data_version":1', ""), id="no-version"),
        pytest.param(QUORUM_STATE_V1.replace('"leaderEpoch":1', '"leaderEpoch":"1"'), id="text-epoch"),
        pytest.param(QUORUM_STATE_V1.replace('"leaderEpoch":1,', ""), id="no-epoch"),
        pytest.param(QUORUM_STATE_V1.replace("AAAAAAAAAAAAAAAAAAAAAA", "A"), id="bad-directory"),
    ],
)
def test_quorum_state_that_is_not_understood_is_refused(tmp_path: Path, text: str) -> None:
    """KAFKA-15412: it may hold a vote, so that no guess will do, and it must not be written again."""
    store = QuorumStateStore(tmp_path)
    store.path.write_text(text)
    with pytest.raises(StorageError, match=r"quorum-state.*Next step"):
        store.read()
    assert store.path.read_text() == text


def test_leader_epochs(tmp_path: Path) -> None:
    assert read_leader_epochs(tmp_path) is None
    write_leader_epochs(tmp_path, [(1, 0), (5, 20)])
    assert (tmp_path / "leader-epoch-checkpoint").read_bytes() == b"0\n2\n1 0\n5 20\n"
    assert read_leader_epochs(tmp_path) == [(1, 0), (5, 20)]


@pytest.mark.parametrize("text", ["", "1\n0\n", "0\n2\n1 0\n", "0\n2\n5 20\n1 0\n", "0\n1\n1\n", "x\n0\n"])
def test_malformed_leader_epochs(tmp_path: Path, text: str) -> None:
    (tmp_path / "leader-epoch-checkpoint").write_text(text)
    with pytest.raises(StorageError, match="leader-epoch-checkpoint"):
        read_leader_epochs(tmp_path)


def test_meta_properties_of_java() -> None:
    assert read_meta_properties(JAVA_DIR) == MetaProperties("V50AZlDfQ6SyNYSsdWVE0A", 3000, DIRECTORY_ID)


def test_meta_properties_written_as_java_writes_them(tmp_path: Path) -> None:
    meta = read_meta_properties(JAVA_DIR)
    assert meta is not None
    write_meta_properties(tmp_path, meta, wall_ms=1_795_245_851_000)
    written = (tmp_path / "meta.properties").read_bytes()
    assert written == (JAVA_DIR / "meta.properties").read_bytes()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("version=1\nnode.id=1", "cluster.id is missing", id="no-cluster"),
        pytest.param("version=1\ncluster.id=x", "node.id is missing", id="no-node"),
        pytest.param("version=1\ncluster.id=x\nnode.id=a", "not a number", id="node-not-a-number"),
        pytest.param("version=2\ncluster.id=x\nnode.id=1", "version 2", id="version"),
        pytest.param("version=1\ncluster.id=x\nnode.id=1\ndirectory.id=a", "UUID", id="directory"),
    ],
)
def test_bad_meta_properties(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "meta.properties").write_text(text)
    with pytest.raises(StorageError, match=reason):
        read_meta_properties(tmp_path)


def _ensemble(tmp_path: Path, *metas: MetaProperties) -> MetaPropertiesEnsemble:
    directories = []
    for number, meta in enumerate(metas):
        directories.append(tmp_path / str(number))
        write_meta_properties(directories[-1], meta, 0)
    return MetaPropertiesEnsemble(directories)


OTHER_ID = uuid_from_string("TzUHEs1aSdqvjJVJ7jWF2w")
RESERVED_ID = bytes(15) + b"\x05"


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        pytest.param(MetaProperties("other", 1, OTHER_ID), "another cluster", id="cluster"),
        pytest.param(MetaProperties("c", 2, OTHER_ID), "another node", id="node"),
        pytest.param(MetaProperties("c", 1, DIRECTORY_ID), "same directory.id", id="copy"),
        pytest.param(MetaProperties("c", 1, RESERVED_ID), "reserved", id="reserved"),
    ],
)
def test_directories_that_do_not_belong_together(tmp_path: Path, second: MetaProperties, reason: str) -> None:
    ensemble = _ensemble(tmp_path, MetaProperties("c", 1, DIRECTORY_ID), second)
    with pytest.raises(StorageError, match=reason):
        ensemble.verify(None, None)


def test_directory_id_is_added_when_missing(tmp_path: Path) -> None:
    write_meta_properties(tmp_path, MetaProperties("c", 1, None), 0)
    meta, directory_id = load_meta_properties(tmp_path, 1, random.Random(1), 0)
    assert meta.directory_id == directory_id
    assert read_meta_properties(tmp_path) == meta


def test_start_needs_a_formatted_directory(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="kraftctl format"):
        load_meta_properties(tmp_path, 1, random.Random(1), 0)


def test_bootstrap_checkpoint_of_java(tmp_path: Path) -> None:
    bootstrap = read_bootstrap_checkpoint(JAVA_DIR)
    assert bootstrap.metadata_version == 30
    assert bootstrap.feature_level("transaction.version") == 2
    java = (JAVA_DIR / "bootstrap.checkpoint").read_bytes()
    batches = read_batches(java)
    timestamp = batches[1].header.base_timestamp_ms
    write_bootstrap_checkpoint(tmp_path, bootstrap.records, timestamp)
    ours = (tmp_path / "bootstrap.checkpoint").read_bytes()
    at, size = batches[0].header.size_bytes, batches[1].header.size_bytes
    assert ours[at : at + size] == java[at : at + size]
    assert len(ours) == len(java)


def test_no_bootstrap_checkpoint_means_the_newest_version(tmp_path: Path) -> None:
    bootstrap = read_bootstrap_checkpoint(tmp_path)
    assert bootstrap.metadata_version == features.DEFAULT_METADATA_VERSION
    assert len(bootstrap.records) == 1


def test_bootstrap_checkpoint_without_metadata_version_is_refused(tmp_path: Path) -> None:
    write_bootstrap_checkpoint(tmp_path, [], 0)
    with pytest.raises(StorageError, match=r"metadata\.version"):
        read_bootstrap_checkpoint(tmp_path)


def test_damaged_bootstrap_checkpoint_is_refused(tmp_path: Path) -> None:
    java = bytearray((JAVA_DIR / "bootstrap.checkpoint").read_bytes())
    java[200] ^= 1
    (tmp_path / "bootstrap.checkpoint").write_bytes(java)
    with pytest.raises(StorageError, match="CRC"):
        read_bootstrap_checkpoint(tmp_path)


def test_a_locked_directory_is_refused_within_and_across_processes(tmp_path: Path) -> None:
    lock = DirectoryLock.acquire(tmp_path)
    with pytest.raises(StorageError, match="this process"):
        DirectoryLock.acquire(tmp_path)
    program = (
        "import sys; from pathlib import Path; from kraftctl.storage.directory_lock import DirectoryLock;"
        " from kraftctl.storage.errors import StorageError\n"
        "try: DirectoryLock.acquire(Path(sys.argv[1]))\n"
        "except StorageError as error: print(error)\n"
        "else: print('acquired')"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", program, str(tmp_path)]

    def attempt() -> str:
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert "another process" in attempt()
    lock.release()
    assert attempt().strip() == "acquired"
    DirectoryLock.acquire(tmp_path).release()


def test_partition_metadata_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "partition.metadata").write_bytes(b"version: \xb0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ")
    with pytest.raises(StorageError, match=r"partition\.metadata.*Next step"):
        ensure_partition_metadata(tmp_path)


def test_leader_epochs_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "leader-epoch-checkpoint").write_bytes(b"0\n1\n\xb1 0\n")
    with pytest.raises(StorageError, match=r"leader-epoch-checkpoint.*Next step"):
        read_leader_epochs(tmp_path)
