"""A commit that is there although writing it seemed to fail: what it names is not deleted."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kraftctl_spark.stores import local_store
from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.stores.object_store import Entries
from kraftctl_spark.stores.store_error import ObjectStoreError
from kraftctl_spark.tables import commit_log
from kraftctl_spark.tables.commit import MERGE
from kraftctl_spark.tables.commit_log import COMMITS, STATES
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.output_state import OutputState
from kraftctl_spark.tables.stored_output import StoredOutput
from kraftctl_spark.tables.table_files import StagedFile, TableFile, range_name

CONTENT = b"PAR1" * 10


class FailingStore(LocalStore):
    """A directory as an object store, of which some requests fail, after or before they are carried out."""

    url = "s3://bucket/tables"
    answer_lost = False
    no_states = False

    def create(self, name: str, data: bytes) -> bool:
        if self.no_states and name.startswith(STATES):
            raise ObjectStoreError(f"cannot create {name}: it fails")
        created = super().create(name, data)
        if self.answer_lost and name.startswith(COMMITS):
            raise ObjectStoreError(f"cannot create {name}: it does not answer")
        return created

    def entries(self, directory: str) -> Entries:
        found = sorted((self.root / directory).glob("*"))
        names = [(str(path.relative_to(self.root)), path.is_dir()) for path in found]
        return Entries(
            tuple(name for name, is_directory in names if not is_directory),
            tuple(name for name, is_directory in names if is_directory),
        )


@pytest.fixture
def store(tmp_path: Path) -> FailingStore:
    return FailingStore(tmp_path / "store")


def output_in(store: Any, tmp_path: Path) -> StoredOutput:
    return StoredOutput(store, tmp_path / "scratch")


def written(output: Output, start: int, end: int, revision: int = 0) -> Manifest:
    """Returns a batch with one file, which is in the output."""
    name = f"records/{range_name(start, end - 1, revision)}.parquet"
    temporary = output.directory / f"{name}.tmp"
    temporary.parent.mkdir(parents=True, exist_ok=True)
    temporary.write_bytes(CONTENT)
    file = TableFile("records", name, end - start, len(CONTENT), "ab" * 32)
    files = output.publish([StagedFile(f"{name}.tmp", file)])
    return Manifest("cluster", start, end, 1, files, {"records": end - start}, end, revision=revision)


def export(output: Output, start: int, end: int) -> None:
    """Does as the exporter: what was not committed is deleted."""
    with ExitStack() as failed:
        failed.callback(output.remove_leftovers)
        output.commit(written(output, start, end))
        failed.pop_all()


def assert_complete(output: Output, end: int) -> None:
    assert output.position().offset == end
    output.check_files()


def test_files_of_a_batch_are_kept_where_the_answer_to_its_commit_is_lost(
    store: FailingStore, tmp_path: Path
) -> None:
    output = output_in(store, tmp_path)
    export(output, 0, 10)
    store.answer_lost = True
    with pytest.raises(OSError, match="does not answer"):
        export(output, 10, 20)
    assert_complete(output_in(FailingStore(store.root), tmp_path), 20)
    store.answer_lost = False
    export(output, 20, 30)
    assert_complete(output, 30)


def test_files_of_a_merge_are_kept_where_the_answer_to_its_commit_is_lost(
    store: FailingStore, tmp_path: Path
) -> None:
    """The next compaction of the same process begins with the removal of leftovers."""
    output = output_in(store, tmp_path)
    for start in (0, 10):
        export(output, start, start + 10)
    store.answer_lost = True
    with pytest.raises(OSError, match="does not answer"):
        output.replace(output.manifests(), written(output, 0, 20, revision=1), MERGE)
    store.answer_lost = False
    assert output.remove_merge_leftovers() == 0
    assert_complete(output, 20)
    assert len(output.manifests()) == 1


def test_files_of_a_batch_that_is_refused_are_deleted(store: FailingStore, tmp_path: Path) -> None:
    output = output_in(store, tmp_path)
    export(output, 0, 10)
    with pytest.raises(ExportRefusedError, match="another process writes"):
        export(output, 0, 10)
    assert len(store.names("records")) == 1


def test_a_state_that_cannot_be_written_fails_no_commit(
    store: FailingStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(commit_log, "COMMITS_PER_STATE", 2)
    output = output_in(store, tmp_path)
    store.no_states = True
    with caplog.at_level(logging.WARNING):
        for start in range(0, 40, 10):
            export(output, start, start + 10)
    assert "the state after commit 1 is not written (cannot create _states/" in caplog.text
    assert_complete(output, 40)
    assert_complete(output_in(FailingStore(store.root), tmp_path), 40)


def test_files_in_a_directory_are_kept_where_their_commit_cannot_be_forced_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit has its name by then: the removal of leftovers reads it first."""
    output = Output(tmp_path)
    export(output, 0, 10)
    fsync = local_store.fsync

    def failing(path: Path) -> None:
        if path.name == COMMITS:
            raise OSError(5, "the disk fails", str(path))
        fsync(path)

    with monkeypatch.context() as patch:
        patch.setattr(local_store, "fsync", failing)
        with pytest.raises(OSError, match="the disk fails"):
            export(output, 10, 20)
    assert_complete(output, 20)
    assert_complete(Output(tmp_path), 20)


def test_a_copy_has_the_files_of_all_its_commits(
    store: FailingStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where an export commits while it is made."""
    writer = output_in(store, tmp_path / "writer")
    export(writer, 0, 10)
    copied = output_in(FailingStore(store.root), tmp_path)
    seen = commit_log.CommitLog.state

    def then_committed(log: commit_log.CommitLog) -> OutputState:
        found = seen(log).copy()
        if log is copied.log and (end := writer.position().offset) < 50:
            export(writer, end, end + 10)
        return found

    monkeypatch.setattr(commit_log.CommitLog, "state", then_committed)
    copied.fetch_all()
    Output(copied.directory).check_files()
