"""The numbered commits: who gets a number, what is read, and what the state files are trusted for."""

from __future__ import annotations

import multiprocessing
import shutil
import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.tables import commit_log
from kraftctl_spark.tables.commit import BATCH, MERGE, Commit
from kraftctl_spark.tables.commit_log import COMMITS, STATES, CommitLog, commit_name, numbers_in, state_name
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest
from kraftctl_spark.tables.output_state import OutputState
from kraftctl_spark.tables.table_files import TableFile, range_name
from kraftctl_spark.tables.verification import verify

CLUSTER = "cluster-of-the-test"


def batch(start: int, end: int, revision: int = 0) -> Manifest:
    name = range_name(start, end - 1, revision)
    file = TableFile("records", f"records/{name}.parquet", end - start, 7, "ab" * 32)
    return Manifest(CLUSTER, start, end, 1, (file,), {"records": end - start}, end, revision=revision)


def log_in(directory: Path) -> CommitLog:
    return CommitLog(LocalStore(directory), directory)


def appended(log: CommitLog, batches: int) -> None:
    for start in range(log.state().end, log.state().end + batches):
        log.append(Commit(BATCH, (batch(start, start + 1),)))


def merge(log: CommitLog, start: int, end: int) -> Commit:
    replaced = [one for one in log.state().batches if start <= one.start and one.end <= end]
    return Commit(MERGE, (batch(start, end),), tuple(file for one in replaced for file in one.files))


class ReadsCounted(LocalStore):
    """A store that counts what is read."""

    reads = 0

    def read(self, name: str) -> bytes:
        self.reads += 1
        return super().read(name)


def append_some(directory: Path, start: int) -> None:
    """The work of a child process: as many batches as it can get, each where the log ends."""
    log = log_in(directory)
    made = 0
    while made < 20:
        end = log.state().end
        try:
            log.append(Commit(BATCH, (batch(end, end + 1),)))
        except ExportRefusedError:
            continue  # Another one has appended meanwhile.
        made += 1


def test_of_racing_writers_one_gets_each_number(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    racers = [context.Process(target=append_some, args=(tmp_path, one)) for one in range(4)]
    for one in racers:
        one.start()
    for one in racers:
        one.join(60)
    assert [one.exitcode for one in racers] == [0] * 4
    assert numbers_in(LocalStore(tmp_path), COMMITS) == list(range(80))
    state = log_in(tmp_path).state()
    assert [(one.start, one.end) for one in state.batches] == [(at, at + 1) for at in range(80)]
    assert not [one for one in verify(tmp_path).problems if "is missing: restore" not in one]


def test_a_writer_that_loses_a_race_takes_the_next_number(tmp_path: Path) -> None:
    """If its change still applies: a merge of other batches than those that are gone."""
    exporter, compaction = log_in(tmp_path), log_in(tmp_path)
    appended(exporter, 4)
    change = merge(compaction, 0, 2)
    appended(exporter, 1)
    assert compaction.append(change).number == 5
    appended(exporter, 1)
    assert [(one.start, one.end) for one in exporter.state().batches] == [
        *((0, 2), (2, 3), (3, 4), (4, 5), (5, 6))
    ]


def test_what_was_replaced_meanwhile_is_not_replaced_again(tmp_path: Path) -> None:
    first, second = log_in(tmp_path), log_in(tmp_path)
    appended(first, 4)
    change = merge(second, 0, 4)
    first.append(merge(first, 0, 4))
    with pytest.raises(ExportRefusedError, match="not live any more"):
        second.append(change)
    with pytest.raises(ExportRefusedError, match="no batches have exactly the range"):
        second.append(Commit(MERGE, (batch(1, 3),)))
    with pytest.raises(ExportRefusedError, match="does not follow on offset 4"):
        second.append(Commit(BATCH, (batch(0, 4),)))
    assert numbers_in(LocalStore(tmp_path), COMMITS) == list(range(5))


def test_a_request_that_was_carried_out_twice_is_one_commit(tmp_path: Path) -> None:
    """As where an answer is lost, and a client asks again."""

    class Repeating(LocalStore):
        def create(self, name: str, data: bytes) -> bool:
            super().create(name, data)
            return super().create(name, data)

    log = CommitLog(Repeating(tmp_path), tmp_path)
    appended(log, 3)
    assert numbers_in(LocalStore(tmp_path), COMMITS) == [0, 1, 2]


def test_a_commit_that_follows_on_another_one_is_refused(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    appended(log, 2)
    shutil.copytree(tmp_path, tmp_path / "copy")
    appended(log, 1)
    other = log_in(tmp_path / "copy")
    other.append(Commit(BATCH, (replace(batch(2, 3), epoch=9),)))
    appended(log, 1)
    shutil.copy(tmp_path / commit_name(3), tmp_path / "copy" / commit_name(3))
    with pytest.raises(ExportRefusedError, match=r"3\.json is damaged, or one before it"):
        other.state()


def test_reading_begins_with_the_newest_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_log, "COMMITS_PER_STATE", 10)
    log = log_in(tmp_path)
    appended(log, 35)
    log.append(merge(log, 0, 30))
    assert numbers_in(log.store, STATES) == [19, 29], "the last two"
    store = ReadsCounted(tmp_path)
    again = CommitLog(store, tmp_path)
    assert vars(again.state()) == vars(log.state())
    assert store.reads == 2 + 6 + 2, "the state, its commit, those behind it, and twice whether there is more"
    again.state()
    assert store.reads == 10 + 1, "only whether there is more"


@pytest.mark.parametrize("damage", ["deleted", "changed", "of-another-log"])
def test_a_state_is_trusted_where_its_commit_has_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(commit_log, "COMMITS_PER_STATE", 10)
    log = log_in(tmp_path / "log")
    appended(log, 25)
    path = tmp_path / "log" / state_name(19)
    if damage == "deleted":
        shutil.rmtree(path.parent)
    elif damage == "changed":
        path.write_text(path.read_text().replace('"records": 1', '"records": 2', 1))
    else:
        other = log_in(tmp_path / "other")
        other.append(Commit(BATCH, (replace(batch(0, 1), epoch=9),)))
        appended(other, 24)
        shutil.copy(tmp_path / "other" / state_name(19), path)
    found = log_in(tmp_path / "log").state()
    assert vars(found) == vars(log.state())


def test_a_state_without_its_commits_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_log, "COMMITS_PER_STATE", 10)
    log = log_in(tmp_path)
    appended(log, 20)
    (tmp_path / commit_name(19)).unlink()
    with pytest.raises(ExportRefusedError, match="there was a commit 19"):
        log_in(tmp_path).state()


def test_states_of_many_batches_are_written_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, a batch would cost more the more there are."""
    monkeypatch.setattr(commit_log, "COMMITS_PER_STATE", 10)
    written: list[int] = []
    keep = CommitLog._keep_state

    def kept(log: CommitLog, number: int, data: bytes) -> None:
        written.append(number)
        keep(log, number, data)

    monkeypatch.setattr(CommitLog, "_keep_state", kept)
    appended(log_in(tmp_path), 200)
    gaps = [after - before for before, after in pairwise(written)]
    assert gaps[0] == 10
    assert gaps == sorted(gaps)
    assert gaps[-1] > 30


def test_removed_files_are_known_until_a_commit_says_that_they_are_deleted(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    appended(log, 2)
    log.append(merge(log, 0, 2))
    (removed,) = log_in(tmp_path).state().removed
    assert (removed.number, len(removed.paths)) == (2, 2)
    log.swept = 2
    appended(log, 1)
    assert log_in(tmp_path).state().removed == []


def test_two_threads_of_a_process_may_read(tmp_path: Path) -> None:
    """Each with a log of its own, as every command has."""
    writer, seen = log_in(tmp_path), []

    def read() -> None:
        log = log_in(tmp_path)
        while log.state().end < 50:
            pass
        seen.append(log.state().sha256)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for one in readers:
        one.start()
    appended(writer, 50)
    for one in readers:
        one.join()
    assert seen == [writer.state().sha256] * 2


@pytest.mark.parametrize("written", [b'{"format": 2}', b"{", b'{"format": 1}', b"[]"])
def test_a_state_that_this_release_cannot_read_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: bytes
) -> None:
    """A later release may write other states, and the same commits."""
    monkeypatch.setattr(commit_log, "COMMITS_PER_STATE", 10)
    log = log_in(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(OutputState, "to_bytes", lambda state: written)
        appended(log, 15)
    assert (tmp_path / state_name(9)).read_bytes() == written
    assert log_in(tmp_path).state().batches == log.state().batches
