"""The history on disk: continued in any steps, killed between any two, merged, and computed again."""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_protocol.uuids import ONE_UUID
from kraftctl_spark import cli
from kraftctl_spark.commands.history import RegularHistory
from kraftctl_spark.history import history_tables, open_files
from kraftctl_spark.history.history_manifest import read_manifest
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.stores.durable import no_hook
from kraftctl_spark.tables.commit_log import commit_name
from kraftctl_spark.tables.compaction import RegularCompaction, compact
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import EPOCH, History, generate
from tests.spark.rewritten import rewrite_history
from tests.spark.typed_export import KillAtStep, content, exporting

SEED = 20261125
SNAPSHOTS = (250, 420)
LAST_BATCH = 592
"""It begins here, where no transaction is open."""


@pytest.fixture(scope="module")
def history() -> History:
    return generate(SEED, 600, snapshots=SNAPSHOTS)


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_files, "ROWS_MAX", 8)
    monkeypatch.setattr(history_tables, "FILES_BEFORE_MERGE", 4)
    monkeypatch.setattr(history_tables, "RECORDS_PER_COMMIT", 150)


def export(
    history: History, directory: Path, ends: Iterable[int], gaps: bool, between: Callable[[int], None]
) -> None:
    """Exports up to each end. With gaps, what is before a snapshot is deleted before it is exported."""
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    quorum.append(*history.batches)
    snapshots = sorted(history.snapshots) if gaps else []
    try:
        with exporting(directory, controller.endpoint, include_secrets=True) as exporter:
            for end in ends:
                if snapshots and end > snapshots[0]:
                    start = snapshots.pop(0)
                    quorum.batches = history.batches_from(start)
                    quorum.log_start_offset = start
                    quorum.snapshot, quorum.snapshot_bytes = (start, EPOCH), history.snapshots[start]
                exporter.export_to(end, EPOCH)
                between(end)
    finally:
        controller.close()


def rows_of_directory(output: Path, table: str) -> list[str]:
    """As a reader without the manifest sees them."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return rows(connection.sql(f"SELECT * FROM '{output}/{table}/*.parquet'").to_arrow_table())


def rows(table: pa.Table) -> list[str]:
    return sorted(map(str, table.to_pylist()))


def goes_up_to(output: Path) -> int:
    manifest = read_manifest(output)
    assert manifest is not None
    return manifest.end


def assert_same_rows(output: Path, expected: Path) -> None:
    """With the manifest and without it."""
    for table in SCHEMAS:
        wanted = rows(read_versions(expected, table))
        assert rows(read_versions(output, table)) == wanted, table
        assert rows_of_directory(output, table) == wanted, table
    assert not list(output.rglob("*.tmp"))


@pytest.mark.parametrize(("seed", "gaps"), [(0, False), (1, True)], ids=["whole", "with-gaps"])
def test_continued_in_any_steps_and_merged_it_is_what_is_computed_anew(
    history: History, tmp_path: Path, seed: int, gaps: bool
) -> None:
    """By one process, or by a new one each time; while the typed tables are merged, too."""
    rng = random.Random(seed)
    raw, output = tmp_path / "raw", tmp_path / "history"
    one = HistoryTables(raw, output)

    def between(end: int) -> None:
        if rng.random() < 0.3:
            compact(Output(raw), grace_ms=0)
        if rng.random() < 0.7:
            tables = one if rng.random() < 0.5 else HistoryTables(raw, output)
            assert tables.catch_up().end == Output(raw).position().offset

    ends = sorted(rng.sample(range(1, history.end), 10)) + [history.end]
    export(history, raw, ends, gaps, between)
    HistoryTables(raw, output).catch_up()
    anew = tmp_path / "anew"
    assert HistoryTables(raw, anew).catch_up().end == history.end
    assert_same_rows(output, anew)
    HistoryTables(raw, output).merge()
    HistoryTables(raw, anew).merge()
    assert content(output) == content(anew)
    HistoryTables(raw, anew).rebuild()
    assert content(output) == content(anew)
    assert_same_rows(output, anew)


def catch_up_and_die(raw: Path, output: Path, step: int, merge: bool) -> None:
    """The work of a child process. What kill -9 leaves does not depend on what was forced to the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(open_files, "ROWS_MAX", 40)
        patch.setattr(history_tables, "FILES_BEFORE_MERGE", 4)
        tables = HistoryTables(raw, output, KillAtStep(step) if step else no_hook)
        tables.catch_up()
        if merge:
            tables.merge()


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Forks children from a process that has imported everything, so that each step is fast."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.spark.history.test_history_tables"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        forkserver.ensure_running()
    return context


def rows_by_table(output: Path) -> dict[str, list[str]]:
    return {table: rows(read_versions(output, table)) for table in SCHEMAS}


@pytest.mark.slow
@pytest.mark.parametrize(
    "merge",
    [pytest.param(False, id="continued"), pytest.param(True, id="merged", marks=pytest.mark.long)],
)
def test_killed_after_any_step_and_continued(
    history: History, processes: ForkServerContext, tmp_path: Path, merge: bool
) -> None:
    """kill -9 after every single step of a batch, or of a merge: nothing is lost or there twice.

    The files are those of a process that was not killed.
    """
    raw, before, done = tmp_path / "raw", tmp_path / "before", tmp_path / "done"

    def between(end: int) -> None:
        if end < history.end or merge:
            HistoryTables(raw, before).catch_up()

    export(history, raw, [200, LAST_BATCH, history.end], True, between)
    shutil.copytree(before, done)
    catch_up_and_die(raw, done, 0, merge)
    assert (goes_up_to(before), goes_up_to(done)) == (history.end if merge else LAST_BATCH, history.end)
    if merge:
        assert_same_rows(done, before)
    files = content(done)
    expected = {goes_up_to(one): rows_by_table(one) for one in (before, done)}
    died = 0
    while True:
        output = tmp_path / f"step-{died + 1}"
        shutil.copytree(before, output)
        child = processes.Process(target=catch_up_and_die, args=(raw, output, died + 1, merge))
        child.start()
        child.join(60)
        assert rows_by_table(output) == expected[goes_up_to(output)]
        if child.exitcode == 0:
            break
        assert child.exitcode == -9
        died += 1
        catch_up_and_die(raw, output, 0, merge)
        assert content(output) == files
        shutil.rmtree(output)
    assert died > (60 if merge else 15)


def test_a_change_costs_what_it_changes(tmp_path: Path) -> None:
    """Of many open files, a batch replaces those of what it ends, and those that are small."""
    raw, output = tmp_path / "raw", tmp_path / "history"
    tables = HistoryTables(raw, output)
    written: list[int] = []
    partitions = [PartitionRecord(number, ONE_UUID, [1, 2], [1, 2], leader=1) for number in range(200)]
    changes = [
        PartitionChangeRecord(number, ONE_UUID, isr=[1], leader=1) for number in (7, 7, 190, 50, 7, 50, 120)
    ]
    records = [TopicRecord("t", ONE_UUID), *partitions, *changes]
    quorum = FakeQuorum()
    quorum.append(encode_batch(0, 1, 1000, [encode_metadata_record(one, 0) for one in records]))
    controller = FakeController(quorum, 1)
    try:
        with exporting(raw, controller.endpoint) as exporter:
            for end in range(len(records) - len(changes), len(records) + 1):
                exporter.export_to(end, 1)
                before = set(output.glob("partitions/*.parquet"))
                tables.catch_up()
                new = set(output.glob("partitions/*.parquet")) - before
                written.append(sum(pq.ParquetFile(path).metadata.num_rows for path in new))
    finally:
        controller.close()
    assert written[0] == len(partitions)
    assert 1 < min(written[1:]) <= max(written[1:]) <= 2 * open_files.ROWS_MAX
    assert read_versions(output, "partitions").column("valid_to_offset").null_count == len(partitions)


def test_files_of_others_stay(history: History, tmp_path: Path) -> None:
    """In a directory that has tables of the same names; what a killed process left is deleted."""
    raw, output = tmp_path / "raw", tmp_path / "warehouse"
    offsets = f"{0:020}-{49:020}"
    theirs = [output / "events" / name for name in ("part-0.parquet", ".part-0.tmp", f"x-{offsets}.parquet")]
    left = [
        output / "events" / name
        for name in (
            f"{offsets}.parquet",
            f"open-{offsets}.parquet",
            f"open-{offsets}-00003.parquet",
            f".open-{offsets}-00003.parquet.{'c0ffee00' * 4}.tmp",
        )
    ]
    (output / "events").mkdir(parents=True)
    for path in theirs + left:
        path.write_bytes(b"")
    export(history, raw, [100], False, lambda end: None)
    HistoryTables(raw, output).catch_up()
    HistoryTables(raw, output).merge()
    assert all(path.exists() for path in theirs)
    assert not any(path.exists() for path in left)


def test_a_history_of_other_tables_is_refused(history: History, tmp_path: Path) -> None:
    raw, output = tmp_path / "raw", tmp_path / "history"
    export(history, raw, [100, 200], False, lambda end: None)
    HistoryTables(raw, output).catch_up()
    shorter = tmp_path / "shorter"
    export(history, shorter, [100], False, lambda end: None)
    end, shorter_end = goes_up_to(output), Output(shorter).manifests()[-1].end
    refusal = rf"up to offset {end}, but .* up to {shorter_end}: choose another"
    with pytest.raises(ExportRefusedError, match=refusal):
        HistoryTables(shorter, output).catch_up()
    assert cli.main(["history", "--tables", str(shorter), "--output", str(output)]) == 2
    assert cli.main(["history", "--tables", str(shorter), "--output", str(output), "--rebuild"]) == 0
    assert goes_up_to(output) == shorter_end < end


@pytest.mark.parametrize("damage", ["file lost", "file short", "other format"])
def test_a_history_that_is_not_complete_is_computed_anew(
    history: History, tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    raw, output = tmp_path / "raw", tmp_path / "history"
    tables = HistoryTables(raw, output)
    export(history, raw, [100, 200], False, lambda end: None)
    tables.rebuild()
    expected, end = content(output), goes_up_to(output)
    one = next((output / "partitions").glob("*.parquet"))
    if damage == "file lost":
        one.unlink()
    elif damage == "file short":
        one.write_bytes(one.read_bytes()[:-9])
    else:
        rewrite_history(output, format_number=2)
        tables = HistoryTables(raw, output)
    assert tables.catch_up().end == end > 100
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert str(output) in warning
    assert "computed again" in warning
    assert content(output) == expected


def test_a_damaged_commit_is_refused(history: History, tmp_path: Path) -> None:
    raw, output = tmp_path / "raw", tmp_path / "history"
    export(history, raw, [100], False, lambda end: None)
    HistoryTables(raw, output).catch_up()
    (output / commit_name(0)).write_text("{")
    with pytest.raises(ExportRefusedError, match="or restore the file from a backup"):
        HistoryTables(raw, output).catch_up()


def damage(path: Path, where: str) -> None:
    """Of the same size as before."""
    content = bytearray(path.read_bytes())
    if where == "end":
        content[-4:] = b"\0\0\0\0"
    elif where == "names":
        content = content.replace(b"cluster_id", b"cluster-id")
    else:
        content[4:200] = b"\xff" * 196
    path.write_bytes(content)


@pytest.mark.parametrize("where", ["end", "names", "data"])
@pytest.mark.parametrize("kind", ["partitions/open-", "topics/open-", "known_ranges/open-", "events/0"])
def test_a_damaged_file_is_refused_with_its_name(
    history: History,
    tmp_path: Path,
    kind: str,
    where: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An export continues without it; `history --rebuild` computes it again."""
    raw, output = tmp_path / "raw", tmp_path / "history"
    export(history, raw, [100], False, lambda end: None)
    HistoryTables(raw, output).catch_up()
    export(history, raw, [200], False, lambda end: None)
    before = goes_up_to(output)
    path = min(output.glob(f"{kind}*.parquet"))
    damage(path, where)
    refusal = f"{path} is damaged: kraftctl-export history --rebuild computes it again"
    if kind.endswith("open-"):
        RegularHistory(HistoryTables(raw, output)).after_batch()
        assert f"the history is not continued for now: {refusal}" in caplog.text
        assert goes_up_to(output) == before
    command = ["history", "--tables", str(raw), "--output", str(output)]
    caplog.clear()
    assert cli.main([*command, "--merge"]) == 2
    assert [one.getMessage() for one in caplog.records if one.levelname == "ERROR"] == [refusal]
    with pytest.raises(ExportRefusedError, match=re.escape(refusal)):
        read_versions(output, path.parent.name)
    assert cli.main([*command, "--rebuild"]) == 0
    HistoryTables(raw, tmp_path / "anew").rebuild()
    assert content(output) == content(tmp_path / "anew")


def test_a_damaged_file_of_the_typed_tables_ends_no_export(
    history: History, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What follows a batch can wait: the next batches are written."""
    raw = tmp_path / "raw"
    for end in (100, 200):
        export(history, raw, [end], False, lambda end: None)
    for path in raw.glob("*/*.parquet"):
        damage(path, "end")
    RegularHistory(HistoryTables(raw, tmp_path / "history")).after_batch()
    RegularCompaction(Output(raw), 1, 0).after_batch()
    assert "the history is not continued for now" in caplog.text
    assert "small files are not merged for now" in caplog.text
