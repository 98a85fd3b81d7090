"""Faults around an export: no row is lost or duplicated, or the export is refused with the reason."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kraftctl_observer.observer import QuorumObserver
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_spark.datasource.checkpoint import check_checkpoint
from kraftctl_spark.tables.commit_log import COMMITS
from kraftctl_spark.tables.compaction import RegularCompaction, compact
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.progress import progress
from kraftctl_spark.tables.reader import read_table
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.test_sink import spark_noted
from tests.spark.typed_export import batches_of, content, exporting, mixed_batches, mixed_value

SECRET = encode_metadata_record(
    UserScramCredentialRecord(name="u", mechanism=1, salt=b"salt", stored_key=b"key", server_key=b"key"), 0
)


def offsets(directory: Path, table: str = "records") -> list[int]:
    return read_table(directory, table).column("offset").to_pylist()


@pytest.fixture
def exported(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> Path:
    """Tables up to offset 40 of a log of 60, in two batches."""
    quorum.append(*mixed_batches(0, 60))
    with exporting(tmp_path / "tables", controller.endpoint) as exporter:
        exporter.export_to(20, 1)
        exporter.export_to(40, 1)
    return tmp_path / "tables"


def check(directory: Path, controller: FakeController) -> None:
    """The checks of `run` before it starts Spark."""
    observer = QuorumObserver([controller.endpoint], timeout_s=5)
    try:
        output = Output(directory)
        output.check_files()
        check_checkpoint(directory / "_checkpoint", output.position(), observer)
    finally:
        observer.close()


def test_the_output_is_lost_and_the_checkpoint_is_not(exported: Path, controller: FakeController) -> None:
    spark_noted(exported, 40)
    check(exported, controller)
    for path in exported.iterdir():
        if path.is_dir() and path.name != "_checkpoint":
            shutil.rmtree(path)
    with pytest.raises(ExportRefusedError, match=r"the tables end at 0: .* remove the checkpoint"):
        check(exported, controller)


def test_an_older_output_with_a_newer_checkpoint(exported: Path, controller: FakeController) -> None:
    """A backup of the tables that is older than that of the checkpoint."""
    spark_noted(exported, 40)
    for path in sorted((exported / COMMITS).iterdir())[1:]:
        path.unlink()
    with pytest.raises(ExportRefusedError, match="before offset 40 was written, but the tables end at 20"):
        check(exported, controller)
    shutil.rmtree(exported / "_checkpoint")
    check(exported, controller)
    with exporting(exported, controller.endpoint) as exporter:
        exporter.export_to(60, 1)
    assert offsets(exported) == list(range(60))
    Output(exported).check_files()


def test_a_newer_output_with_an_older_checkpoint(exported: Path, controller: FakeController) -> None:
    """Spark repeats a batch that is in the tables, and then starts another one in the middle of it."""
    spark_noted(exported, 10)
    check(exported, controller)
    before = content(exported)
    with exporting(exported, controller.endpoint) as exporter:
        assert exporter.export_to(30, 1).offset == 40
        assert content(exported) == before
        assert exporter.export_to(50, 1).offset == 50
    assert offsets(exported) == list(range(50))


def test_the_log_was_deleted_between_two_exports(
    exported: Path, controller: FakeController, quorum: FakeQuorum
) -> None:
    """The snapshot replaces the deleted part, without any overlap."""
    quorum.batches = quorum.batches[-2:]
    quorum.log_start_offset = 49
    quorum.snapshot = (49, 1)
    quorum.snapshot_bytes = encode_batch(0, 1, 5, [mixed_value(offset) for offset in range(3)])
    with exporting(exported, controller.endpoint) as exporter:
        assert exporter.export_to(60, 1).offset == 60
    assert offsets(exported) == [*range(40), None, None, None, *range(49, 60)]
    assert progress(Output(exported)).snapshots == [(40, 49)]


@pytest.mark.parametrize("include_first", [False, True], ids=["then-included", "then-redacted"])
def test_secrets_are_treated_in_another_way_from_now_on(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, include_first: bool
) -> None:
    """A warning at startup, and visible in rows, manifests and status, merged or not."""
    quorum.append(
        *batches_of({offset: SECRET if offset % 10 == 5 else mixed_value(offset) for offset in range(80)})
    )
    output = Output(tmp_path)
    for end, include in ((20, include_first), (40, include_first), (60, not include_first)):
        with exporting(tmp_path, controller.endpoint, include_secrets=include) as exporter:
            exporter.export_to(end, 1)
    assert output.changed_redaction(not include_first) is None
    assert "up to offset 59 and will be" in (output.changed_redaction(include_first) or "")
    for _ in range(2):
        rows = read_table(tmp_path, "user_scram_credential_record").to_pylist()
        redacted = [row["offset"] for row in rows if row["redacted"]]
        assert redacted == ([45, 55] if include_first else [5, 15, 25, 35])
        assert progress(output).with_secrets == ([(0, 40)] if include_first else [(40, 60)])
        compact(output, 0)
    assert [manifest.end for manifest in output.manifests()] == [40, 60], "the two kinds stay apart"


@contextmanager
def files_of_at_most(size_bytes: int) -> Iterator[None]:
    """Like a full disk: a file cannot become larger than this."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size_bytes", [0, 1000, 2500], ids=["nothing", "a-header", "no-manifest"])
def test_a_full_disk(exported: Path, controller: FakeController, size_bytes: int) -> None:
    """The message names the file; no partial file is left, and with free space the export continues."""
    before = content(exported)
    with exporting(exported, controller.endpoint) as exporter:
        with (
            files_of_at_most(size_bytes),
            pytest.raises(OSError, match=rf"no space to write {exported}.*make room"),
        ):
            exporter.export_to(60, 1)
        assert not list(exported.rglob("*.tmp"))
        assert Output(exported).position().offset == 40
        assert content(exported).items() >= before.items()
        exporter.export_to(60, 1)
    assert offsets(exported) == list(range(60))


def test_a_full_disk_ends_a_compaction_and_not_the_export(
    exported: Path, controller: FakeController, caplog: pytest.LogCaptureFixture
) -> None:
    before = content(exported)
    regular = RegularCompaction(Output(exported), batches=1, keep_ms=0)
    with files_of_at_most(1000):
        regular.after_batch()
    assert "small files are not merged for now: " in caplog.text
    assert content(exported) == before
    regular.after_batch()
    assert len(Output(exported).manifests()) == 1
    assert offsets(exported) == list(range(40))
