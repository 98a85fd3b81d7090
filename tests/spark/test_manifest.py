"""The rules for batches: which ones are live, their order, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch, read_batches
from kraftctl_spark.log.log_location import QuorumLocation
from kraftctl_spark.log.log_range import LogRange, cut_into_ranges
from kraftctl_spark.rows.log_rows import rows_of_log, rows_of_snapshot
from kraftctl_spark.tables.commit_log import COMMITS, commit_name
from kraftctl_spark.tables.compaction import RegularCompaction, compact
from kraftctl_spark.tables.export_tasks import ExportTask, TaskSettings, write_range
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest, Position
from kraftctl_spark.tables.output import LOCK, Output
from kraftctl_spark.tables.reader import read_table
from kraftctl_spark.tables.table_files import publish_files, range_name

CLUSTER = "cluster-of-the-test"


@pytest.fixture
def output(tmp_path: Path) -> Output:
    made = Output(tmp_path / "tables")
    (made.directory / COMMITS).mkdir(parents=True)
    return made


def written(output: Output, start: int, end: int, snapshot: bool = False) -> Manifest:
    """Files for a range, half of its records without their own table, and a manifest to commit."""
    values = [
        encode_metadata_record(ProducerIdsRecord(next_producer_id=offset), 0)
        if offset % 2
        else encode_metadata_record(NoOpRecord(), 0)
        for offset in range(start, end)
    ]
    batches = read_batches(encode_batch(start, 4, 1000, values))
    rows = rows_of_snapshot(batches, end) if snapshot else rows_of_log(batches, start, end)
    settings = TaskSettings(output.directory, QuorumLocation((("127.0.0.1", 1),)), CLUSTER)
    report = write_range(settings, ExportTask(LogRange(start, end, 4, snapshot)), rows)
    files = publish_files(output.directory, report.files)
    return Manifest(CLUSTER, start, end, report.epoch, files, report.counts, end + 5, snapshot)


def offsets(output: Output, table: str = "records") -> list[int]:
    return read_table(output.directory, table).column("offset").to_pylist()


def test_only_what_was_committed_counts(output: Output) -> None:
    first, second = written(output, 0, 10), written(output, 10, 20)
    assert (output.position(), offsets(output)) == (Position(), [])
    output.commit(first)
    assert output.position() == Position(10, 4, CLUSTER)
    assert offsets(output) == list(range(10))
    assert offsets(output, "producer_ids_record") == [1, 3, 5, 7, 9]
    output.commit(second)
    assert offsets(output) == list(range(20))
    assert output.manifests() == [first, second], "what was read is what was written"
    assert second.lag == 5


def test_files_are_named_by_offsets(output: Output) -> None:
    manifest = written(output, 0, 10)
    assert [file.path for file in manifest.files] == [
        "records/00000000000000000000-00000000000000000009.parquet",
        "producer_ids_record/00000000000000000000-00000000000000000009.parquet",
    ]
    assert [(file.rows, (output.directory / file.path).stat().st_size) for file in manifest.files] == [
        (10, manifest.files[0].bytes),
        (5, manifest.files[1].bytes),
    ]


def test_a_batch_that_is_written_again_is_the_same(output: Output) -> None:
    manifest = written(output, 0, 10)
    before = {file.path: (output.directory / file.path).read_bytes() for file in manifest.files}
    assert written(output, 0, 10) == manifest
    assert before == {file.path: (output.directory / file.path).read_bytes() for file in manifest.files}


def test_ranges_depend_on_start_and_end_alone() -> None:
    planned = cut_into_ranges(start=7, end=120_000, epoch=1, end_epoch=3)
    assert [(one.start, one.end) for one in planned] == [
        (7, 50_007),
        (50_007, 100_007),
        (100_007, 120_000),
    ]
    assert [one.epoch for one in planned] == [1, 3, 3]


@pytest.mark.parametrize(("start", "end"), [(5, 12), (11, 20), (10, 10)], ids=["overlap", "gap", "empty"])
def test_a_batch_that_does_not_follow_is_refused(output: Output, start: int, end: int) -> None:
    output.commit(written(output, 0, 10))
    with pytest.raises(ExportRefusedError, match="does not follow on offset 10"):
        output.commit(replace(written(output, 10, 20), start=start, end=end))


def test_a_lost_commit_is_noticed(output: Output) -> None:
    for start in (0, 10, 20):
        output.commit(written(output, start, start + 10))
    (output.directory / commit_name(1)).unlink()
    with pytest.raises(ExportRefusedError, match=r"0001\.json is missing, but there was a commit 2"):
        Output(output.directory).manifests()


def test_batches_of_two_clusters_are_refused(output: Output) -> None:
    output.commit(written(output, 0, 10))
    with pytest.raises(ExportRefusedError, match="of cluster another"):
        output.commit(replace(written(output, 10, 20), cluster_id="another"))


@pytest.mark.parametrize("text", ["", "{}", '{"format": 2}', '{"format": 1, "batches": [], "removed": []}'])
def test_a_commit_that_cannot_be_read_is_refused(output: Output, text: str) -> None:
    (output.directory / commit_name(0)).write_text(text)
    with pytest.raises(ExportRefusedError, match="not a commit of this release"):
        output.position()


def test_a_lost_or_cut_file_is_noticed(output: Output) -> None:
    manifest = written(output, 0, 10)
    output.commit(manifest)
    output.check_files()
    path = output.directory / manifest.files[1].path
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(ExportRefusedError, match="restore it from a backup"):
        output.check_files()
    path.unlink()
    with pytest.raises(ExportRefusedError, match="restore it from a backup"):
        output.check_files()


def test_leftovers_are_removed_and_nothing_else(output: Output) -> None:
    output.commit(written(output, 0, 10))
    output.remove_leftovers()
    kept = {path for path in output.directory.rglob("*") if path.is_file()}
    written(output, 10, 20)
    written(output, 3, 5)
    (output.directory / "records" / ".x.parquet.123.tmp").touch()
    (output.directory / COMMITS / ".x.json.123.tmp").touch()
    mine = output.directory / "records" / "notes.parquet"
    mine.touch()
    assert output.remove_leftovers() == 6
    assert {path for path in output.directory.rglob("*") if path.is_file()} == kept | {mine}


def test_one_writer_at_a_time(output: Output) -> None:
    holder = (
        "import sys; from pathlib import Path; from kraftctl_spark.tables.output import Output\n"
        "with Output(Path(sys.argv[1])).locked(): print('locked', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(output.directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        with pytest.raises(ExportRefusedError, match="another process writes"):
            with output.locked():
                pass
        process.kill()
    with output.locked():
        assert (output.directory / LOCK).exists()


def test_compaction_changes_files_and_no_row(output: Output) -> None:
    output.commit(written(output, 0, 10, snapshot=True))
    for start in range(10, 50, 10):
        output.commit(written(output, start, start + 10))
    before = {name: read_table(output.directory, name) for name in ("records", "producer_ids_record")}
    done = compact(output, grace_ms=3_600_000)
    assert (done.merged_manifests, done.files_before, done.files_after, done.files_removed) == (4, 8, 2, 0)
    assert [manifest.name for manifest in output.manifests()] == [range_name(0, 9), range_name(10, 49)]
    assert before == {name: read_table(output.directory, name) for name in before}
    assert output.position() == Position(50, 4, CLUSTER)
    assert len(list(output.directory.glob("records/*.parquet"))) == 6, "readers may still use the old files"
    output.check_files()
    output.commit(written(output, 50, 60))
    done = compact(output, grace_ms=0)
    assert (done.merged_manifests, done.files_removed) == (2, 12)
    assert len(list(output.directory.glob("records/*.parquet"))) == 2
    assert offsets(output) == [None] * 10 + list(range(10, 60))
    assert compact(output, grace_ms=0).merged_manifests == 0


def test_regular_compaction_spares_what_is_large(output: Output) -> None:
    compaction = RegularCompaction(output, batches=3, keep_ms=0)
    seen: list[list[int]] = []
    for start, end in ((0, 100), (100, 110), (110, 120), (120, 150), (150, 160), (160, 260)):
        output.commit(written(output, start, end))
        compaction.after_batch()
        seen.append([manifest.end for manifest in output.manifests()])
    assert seen == [[100], [100, 110], [100, 120], [100, 120, 150], [100, 120, 150, 160], [260]]
    assert offsets(output) == list(range(260))
    assert len(list(output.directory.glob("records/*.parquet"))) == 1


def test_a_compaction_that_died_before_its_commit(output: Output) -> None:
    class DiedError(Exception):
        pass

    def die(step: str) -> None:
        if step == "json-written":
            raise DiedError(step)

    for start in (0, 10):
        output.commit(written(output, start, start + 10))
    with pytest.raises(DiedError, match="json-written"):
        compact(Output(output.directory, die), 0)
    assert offsets(output) == list(range(20))
    output.commit(written(output, 20, 30))
    assert compact(output, 0).merged_manifests == 3
    assert offsets(output) == list(range(30))
    assert [path.stem for path in output.directory.glob("records/*.parquet")] == [range_name(0, 29)]
