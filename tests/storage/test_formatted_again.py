"""Disks on which a controller has run, and that are formatted again by hand: who votes, waits, or refuses.

`kafka-storage format` writes meta.properties and bootstrap.checkpoint where there is no meta.properties, and
leaves all else: a recovery point of before, and a log if it was not removed. No other file names the cluster,
so a recovery point of another cluster is one of another directory.id.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.storage.end_of_recovery import end_recovery
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl.storage.recovery_point import FILE_NAME
from kraftctl.storage.witness import Witness
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from tests.storage.test_former_replica import (
    ALONE,
    DYNAMIC,
    END,
    OTHER_ID,
    STATIC,
    Damage,
    Quorum,
    live,
    never_took_part,
    of_another,
)
from tests.storage.test_former_replica import _remove_partition as remove_partition
from tests.support.partitions import DIRECTORY_ID, NODE_ID, always_now

QUORUMS = {"static": STATIC, "alone": ALONE, "dynamic": DYNAMIC}


def as_it_was(_: Path) -> None: ...


def without_recovery_point(log_dir: Path) -> None:
    (log_dir / FILE_NAME).unlink()


POINTS: dict[str, Damage] = {
    "same-id": as_it_was,
    "other-id": of_another(),
    "other-id-without-records": of_another(end_offset=0, log_epoch=0),
    "other-id-that-never-ran": never_took_part,
    "no-recovery-point": without_recovery_point,
}

LOGS = {"log": as_it_was, "no-log": remove_partition}

OUTCOMES = {
    "static same-id log": "votes",
    "static same-id no-log": "waits for its log",
    "static other-id log": "waits",
    "static other-id no-log": "waits for its log",
    "static other-id-without-records log": "waits",
    "static other-id-without-records no-log": "waits",
    "static other-id-that-never-ran log": "waits",
    "static other-id-that-never-ran no-log": "votes",
    "static no-recovery-point log": "votes",
    "static no-recovery-point no-log": "votes",
    "alone same-id log": "votes",
    "alone same-id no-log": "refuses",
    "alone other-id log": "votes",
    "alone other-id no-log": "refuses",
    "alone other-id-without-records log": "votes",
    "alone other-id-without-records no-log": "votes",
    "alone other-id-that-never-ran log": "votes",
    "alone other-id-that-never-ran no-log": "votes",
    "alone no-recovery-point log": "votes",
    "alone no-recovery-point no-log": "votes",
    "dynamic same-id log": "votes",
    "dynamic same-id no-log": "waits for its log",
    "dynamic other-id log": "waits",
    "dynamic other-id no-log": "votes",
    "dynamic other-id-without-records log": "waits",
    "dynamic other-id-without-records no-log": "votes",
    "dynamic other-id-that-never-ran log": "waits",
    "dynamic other-id-that-never-ran no-log": "votes",
    "dynamic no-recovery-point log": "votes",
    "dynamic no-recovery-point no-log": "votes",
}
"""Of static voters without a log only those wait that may have promised something: see ADR 6. Nothing proves
that another controller has not voted since, as the witness was within the log's directory."""


def formatted_again(log_dir: Path, case: str) -> Quorum:
    quorum, point, log = case.split(" ")
    live(log_dir, QUORUMS[quorum])
    POINTS[point](log_dir)
    LOGS[log](log_dir)
    if log == "no-log":
        QUORUMS[quorum].format(log_dir)
    return QUORUMS[quorum]


def test_each_combination_has_an_outcome() -> None:
    assert set(OUTCOMES) == {f"{q} {point} {log}" for q in QUORUMS for point in POINTS for log in LOGS}


@pytest.mark.parametrize("case", OUTCOMES)
def test_who_votes(case: str, tmp_path: Path) -> None:
    quorum, expected = formatted_again(tmp_path, case), OUTCOMES[case]
    if expected == "refuses":
        with pytest.raises(StorageError, match=r"this node is the only voter\. Next step: keep a copy"):
            quorum.open(tmp_path)
        return
    partition = quorum.open(tmp_path)
    assert (partition.recovering_epoch is None) == (expected == "votes"), partition.warnings
    if expected == "votes":
        return
    line = partition.warnings[-1]
    assert line.startswith("This replica is recovering and does not vote: ")
    brings_back = "bring this log back as it was moved away, with the meta.properties beside it, and"
    assert (brings_back in line) == (expected == "waits for its log"), line
    assert ("format an empty one on each controller, with a new cluster id" in line) == (brings_back in line)
    assert ("kraftctl end-recovery --help" in line) == (brings_back not in line)
    if brings_back in line:
        with pytest.raises(StorageError, match="has lost records"):
            end_recovery(partition, log_is_whole=True)


OF_THE_LOG = {"same-id": DIRECTORY_ID, "other-id": OTHER_ID}


def without_its_log(log_dir: Path, point: str, *, stops: bool = True) -> Path:
    """Its log is moved away, and the directory formatted again or not; returns where the log is."""
    live(log_dir, stops=stops)
    POINTS[point](log_dir)
    moved = log_dir.with_name("moved-away")
    (log_dir / PARTITION_DIRECTORY).rename(moved)
    for _ in range(2):
        STATIC.open(log_dir).close()
    return moved


def bring_back(log_dir: Path, log: Path) -> None:
    shutil.rmtree(log_dir / PARTITION_DIRECTORY)
    log.rename(log_dir / PARTITION_DIRECTORY)
    (log_dir / f"{FILE_NAME}.former").rename(log_dir / FILE_NAME)


def open_as(log_dir: Path, directory_id: bytes) -> MetadataPartition:
    return MetadataPartition.open(
        log_dir, ReplicaKey(NODE_ID, directory_id), now_ms=always_now, static_voters=STATIC.static
    )


@pytest.mark.parametrize("stops", [True, False], ids=["stopped", "killed"])
@pytest.mark.parametrize("point", OF_THE_LOG)
def test_with_its_log_and_its_recovery_point_it_votes(tmp_path: Path, point: str, stops: bool) -> None:
    """As the line says, after any number of starts without the log."""
    log_dir = tmp_path / "data"
    log_dir.mkdir()
    bring_back(log_dir, without_its_log(log_dir, point, stops=stops))
    leave_witness(log_dir, OF_THE_LOG[point])
    partition = open_as(log_dir, OF_THE_LOG[point])
    assert (partition.recovering_epoch, partition.warnings, partition.log.end_offset) == (None, [], END)


@pytest.mark.parametrize("point", OF_THE_LOG)
def test_a_backup_of_the_log_alone_is_refused(tmp_path: Path, point: str) -> None:
    log_dir = tmp_path / "data"
    log_dir.mkdir()
    log = without_its_log(log_dir, point)
    (segment,) = log.glob("*.log")
    os.truncate(segment, segment.stat().st_size // 2)
    bring_back(log_dir, log)
    leave_witness(log_dir, OF_THE_LOG[point])
    with pytest.raises(StorageError, match=r"ends at offset 10 .*, but up to offset 20 .* was durable"):
        open_as(log_dir, OF_THE_LOG[point])


def leave_witness(log_dir: Path, directory_id: bytes) -> None:
    """`of_another` gives the recovery point another directory.id, and not the witness of the log."""
    Witness(log_dir / PARTITION_DIRECTORY, directory_id).leave()


def test_the_line_says_what_the_earlier_replica_had(tmp_path: Path) -> None:
    quorum = formatted_again(tmp_path, "static other-id no-log")
    assert (
        f"{tmp_path / FILE_NAME} is of an earlier replica, directory.id TzUHEs1aSdqvjJVJ7jWF2w, which took"
        " part in epoch 4 with a log of 20 records: this directory was formatted again, and that log is not"
        " here. It votes again after" in quorum.open(tmp_path).warnings[-1]
    )
