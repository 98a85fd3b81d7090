"""Versions over generated logs with aborted transactions, gaps and all record types.

Kafka's own MetadataImage says what is so at an offset.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from kraftctl_protocol.record_batch import read_batch_header
from kraftctl_spark import cli
from kraftctl_spark.history import raw_records
from kraftctl_spark.history.history_manifest import locked
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.partitions.open_partitions import OpenPartitions
from kraftctl_spark.history.raw_records import steps_of
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.record_columns import COLUMNS
from kraftctl_spark.history.schema import EVENTS, SCHEMAS, decode_open, encode_versions
from kraftctl_spark.history.stage import ONE_BY_ONE, HistoryStage
from kraftctl_spark.history.versions.kinds import KINDS, PARTITIONS
from kraftctl_spark.log import log_range
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import EPOCH, History, generate
from tests.spark.typed_export import content, exporting

SEED = 20261121
FIRST_PART = 200
CLUSTER = "c0ffeec0ffeec0ffeec0ff"


@pytest.fixture(scope="module")
def history() -> History:
    return generate(SEED, 600, snapshots=(250, 420))


def export(history: History, directory: Path, ends: list[int], deleted_up_to: Iterable[int] = ()) -> None:
    """Exports up to each end; after each, the log before the next of these offsets is deleted."""
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    quorum.append(*history.batches)
    deletions = iter(deleted_up_to)
    try:
        with exporting(directory, controller.endpoint, include_secrets=True) as exporter:
            for end in ends:
                exporter.export_to(end, EPOCH)
                start = next(deletions, None)
                if start is not None:
                    quorum.batches = history.batches_from(start)
                    quorum.log_start_offset = start
                    quorum.snapshot, quorum.snapshot_bytes = (start, EPOCH), history.snapshots[start]
    finally:
        controller.close()


@dataclass
class Tables:
    raw: Path
    versions: Path
    known: list[range]
    """Offsets at which the state is known."""


@pytest.fixture(scope="module")
def whole(history: History, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    directory = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_range, "OFFSETS_PER_RANGE", 80)
        export(history, directory / "raw", [150, 151, 300, history.end])
    HistoryTables(directory / "raw", directory / "versions").rebuild()
    return Tables(directory / "raw", directory / "versions", [range(history.end)])


@pytest.fixture(scope="module")
def gappy(history: History, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """The same log of which two parts were deleted before they were exported."""
    return with_gaps(history, tmp_path_factory.mktemp("gappy"), FIRST_PART)


def with_gaps(history: History, directory: Path, first_part: int) -> Tables:
    """What follows the first part is deleted up to the first snapshot, later up to the second."""
    first, second = sorted(history.snapshots)
    export(history, directory / "raw", [first_part, first + 40, history.end], (first, second))
    ends = [one.start for one in Output(directory / "raw").manifests() if one.snapshot]
    HistoryTables(directory / "raw", directory / "versions").rebuild()
    known = [range(ends[0]), range(first - 1, ends[1]), range(second - 1, history.end)]
    return Tables(directory / "raw", directory / "versions", known)


@cache
def engine() -> duckdb.DuckDBPyConnection:
    """One for all queries: to open it takes ten times as long as a query."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def as_of(versions: Path, kind: str, condition: str) -> list[dict[str, Any]]:
    found = engine().sql(f"SELECT * FROM '{versions}/{kind}/*.parquet' WHERE {condition}")
    rows: list[dict[str, Any]] = found.to_arrow_table().to_pylist()
    return rows


def at_offset(offset: int) -> str:
    return f"valid_from_offset <= {offset} AND (valid_to_offset IS NULL OR valid_to_offset > {offset})"


def test_known_ranges_and_gaps(gappy: Tables, history: History) -> None:
    rows = as_of(gappy.versions, "known_ranges", "true")
    assert [range(row["start_offset"], row["end_offset"]) for row in rows] == gappy.known
    assert [row["from_snapshot"] for row in rows] == [False, True, True]
    assert as_of(gappy.versions, "topics", at_offset(gappy.known[0].stop)) == []
    ended = as_of(gappy.versions, "partitions", "ended_by = 'gap'")
    assert {row["valid_to_offset"] for row in ended} == {one.stop for one in gappy.known[:-1]}
    assert {row["valid_to_time"].timestamp() * 1000 for row in ended} == {
        history.times[one[-1]] for one in gappy.known[:-1]
    }


@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.long), 7, 100])
def test_a_stage_continues_from_the_open_versions(
    whole: Tables, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Incremental in arbitrary cuts, each with a new stage from what the tables have, gives the same rows."""
    monkeypatch.setattr(raw_records, "RECORDS_PER_STEP", size)
    found = {name: [schema.empty_table()] for name, schema in SCHEMAS.items()}
    stage = HistoryStage(CLUSTER)
    for manifest in Output(whole.raw).manifests():
        for step in steps_of(whole.raw, [manifest]):
            stage.apply(step)
            for name, rows in stage.take().rows().items():
                found[name].append(rows)
            still_open = open_rows(stage)
            partitions = OpenPartitions()
            partitions.load([("file", still_open.pop(PARTITIONS.name))])
            versions = {kind.name: decode_open(kind, still_open[kind.name]) for kind in ONE_BY_ONE}
            stage = HistoryStage(CLUSTER, versions, partitions)
    for name, rows in open_rows(stage).items():
        found[name].append(rows)
    for name in (EVENTS, *open_rows(stage)):
        table = pa.concat_tables(found[name])
        expected = read_versions(whole.versions, name).to_pylist()
        # What the log never set is noted by those who use a stage.
        assert table.to_pylist() == [row for row in expected if row.get("kind") != "not known"], name


def open_rows(stage: HistoryStage) -> dict[str, pa.Table]:
    found = {kind.name: encode_versions(kind, stage.still_open()[kind.name], CLUSTER) for kind in ONE_BY_ONE}
    _, parts = stage.partitions.open.rewrite(CLUSTER, everything=True)
    stage.partitions.open.place(map(str, range(len(parts))))
    return found | {PARTITIONS.name: pa.concat_tables([SCHEMAS[PARTITIONS.name].empty_table(), *parts])}


@pytest.fixture
def many_files(history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manifest:
    """Has many files per type, of which a step reads few records."""
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", 50)
    monkeypatch.setattr(raw_records, "RECORDS_PER_STEP", 20)
    export(history, tmp_path, [history.end])
    (manifest,) = Output(tmp_path).manifests()
    return manifest


def test_records_of_all_types_come_in_the_order_of_the_log(
    history: History, many_files: Manifest, tmp_path: Path
) -> None:
    """Each step is behind the one before it."""
    places = []
    for step in steps_of(tmp_path, [many_files], 100):
        found = [place for rows in step.tables.values() for place in rows.column("place").to_pylist()]
        places += sorted(found)
    assert places == sorted(places)
    kinds = [event.table for event in history.events() if event.offset >= 100]
    assert len(places) == sum(kind in COLUMNS for kind in kinds)


def test_a_step_reads_only_up_to_its_end(
    many_files: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A type with few records would fit into one step."""
    begun: list[int] = []
    read = raw_records._Rows._read

    def noted(rows: raw_records._Rows, group: raw_records._Group) -> pa.Table:
        begun.append(group.first_place)
        return read(rows, group)

    monkeypatch.setattr(raw_records._Rows, "_read", noted)
    for step in steps_of(tmp_path, [many_files]):
        last = max(place for rows in step.tables.values() for place in rows.column("place").to_pylist())
        assert max(begun) <= last
    assert len(begun) > 50


def test_no_step_has_too_many_texts(whole: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_records, "OTHERS_PER_STEP", 7)
    manifests = Output(whole.raw).manifests()
    steps = [step for manifest in manifests for step in steps_of(whole.raw, [manifest])]
    assert max(step.rows("config_record").num_rows for step in steps) == 7


def test_a_rebuild_has_the_same_bytes(whole: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After compaction, over an older history, and with other steps."""
    before = content(whole.versions)
    monkeypatch.setattr(raw_records, "RECORDS_PER_STEP", 13)
    compact(Output(whole.raw), grace_ms=0)
    (whole.versions / "topics" / "00000000000000000000-00000000000000000007.parquet").write_bytes(b"old")
    flags = ["--tables", str(whole.raw), "--output", str(whole.versions), "--rebuild"]
    assert cli.main(["history", *flags]) == 0
    assert content(whole.versions) == before


def test_aborted_records_have_no_version(whole: Tables, history: History) -> None:
    assert len(history.aborted) > 20
    for kind in KINDS:
        for row in as_of(whole.versions, kind.name, "true"):
            assert not {row["valid_from_offset"], row["valid_to_offset"]} & history.aborted


def test_versions_have_the_batch_that_began_them(gappy: Tables, history: History) -> None:
    bases = [read_batch_header(batch, 0).base_offset for batch in history.batches]
    snapshots = {part[0] for part in gappy.known[1:]}
    for kind in KINDS:
        for row in as_of(gappy.versions, kind.name, "true"):
            began = row["valid_from_offset"]
            batch = None if row["from_snapshot"] else bases[bisect_right(bases, began) - 1]
            assert row["batch_offset"] == batch
            assert not row["from_snapshot"] or began in snapshots


def test_a_key_has_one_version_at_a_time(whole: Tables) -> None:
    for kind in KINDS:
        ends: dict[str, int] = {}
        rows = as_of(whole.versions, kind.name, "true")
        for row in sorted(rows, key=lambda one: int(one["valid_from_offset"])):
            key = str([row[name] for name in kind.key])
            assert ends.get(key, -1) <= row["valid_from_offset"]
            end = row["valid_to_offset"]
            assert end is None or end > row["valid_from_offset"]
            ends[key] = 2**62 if end is None else end


def test_only_one_process_at_a_time(whole: Tables) -> None:
    tables = HistoryTables(whole.raw, whole.versions)
    for work in (tables.rebuild, tables.catch_up, tables.merge):
        with locked(whole.versions), pytest.raises(ExportRefusedError, match="another process"):
            work()


def test_refused_without_tables(tmp_path: Path) -> None:
    assert cli.main(["history", "--tables", str(tmp_path)]) == 2
