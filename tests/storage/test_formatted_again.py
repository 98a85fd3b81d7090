"""Disks on which a controller has run, and that are formatted again by hand: who votes, waits, or refuses.

`kafka-storage format` writes meta.properties and bootstrap.checkpoint where there is no meta.properties, and
leaves all else: a recovery point of before, and a log if it was not removed. No other file names the cluster,
so a recovery point of another cluster is one of another directory.id.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.storage.end_of_recovery import end_recovery
from kraftctl.storage.errors import StorageError
from kraftctl.storage.recovery_point import FILE_NAME
from tests.storage.test_former_replica import (
    ALONE,
    DYNAMIC,
    STATIC,
    Damage,
    Quorum,
    live,
    never_took_part,
    of_another,
)
from tests.storage.test_former_replica import _remove_partition as remove_partition

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
    brings_back = "stop all controllers and bring this log back, with the meta.properties beside it"
    assert (brings_back in line) == (expected == "waits for its log"), line
    assert ("format an empty one on each controller, with a new cluster id" in line) == (brings_back in line)
    assert ("kraftctl end-recovery --help" in line) == (brings_back not in line)
    if brings_back in line:
        with pytest.raises(StorageError, match="has lost records"):
            end_recovery(partition, log_is_whole=True)


def test_the_line_says_what_the_earlier_replica_had(tmp_path: Path) -> None:
    quorum = formatted_again(tmp_path, "static other-id no-log")
    assert (
        f"{tmp_path / FILE_NAME} is of an earlier replica, directory.id TzUHEs1aSdqvjJVJ7jWF2w, which took"
        " part in epoch 4 with a log of 20 records: this directory was formatted again, and that log is not"
        " here. It votes again after" in quorum.open(tmp_path).warnings[-1]
    )
