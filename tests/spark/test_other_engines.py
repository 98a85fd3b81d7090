"""DuckDB and pyarrow on the bare directory, where older files lack columns: with their defaults."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.log import log_range
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables.compaction import RegularCompaction
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.rewritten import rewrite
from tests.spark.typed_export import compact_and_die, exporting, mixed_batches, offsets_in_directory

TABLES = ("records", "topic_record", "partition_change_record")
TABLE = "topic_record"
README = (Path(__file__).parents[2] / "spark" / "README.md").read_text()
NEW = table_schemas()[TABLE].names[-1]
SNAPSHOT_END = 20


def make_old(output: Output, number: int) -> None:
    """The files of a batch as an older release wrote them: without the last column of every table."""
    for file in output.manifests()[number].files:
        written = output.directory / file.path
        table = pq.read_table(written)
        pq.write_table(table.drop_columns(table.column_names[-1:]), written)


@pytest.fixture
def grown(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Output:
    """A snapshot and a batch by an older release, then a batch of this one."""
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", 25)
    quorum.log_start_offset, quorum.snapshot = SNAPSHOT_END, (SNAPSHOT_END, 1)
    quorum.snapshot_bytes = b"".join(mixed_batches(0, 6))
    quorum.append(*mixed_batches(SNAPSHOT_END, 80))
    output = Output(tmp_path / "tables")
    with exporting(output.directory, controller.endpoint) as exporter:
        for end in (60, 80):
            exporter.export_to(end, 1)
    assert [one.snapshot for one in output.manifests()] == [True, False, False]
    for number in (0, 1):
        make_old(output, number)
    rewrite(output.directory, lambda batch: batch)
    output = Output(output.directory)
    output.check_files()
    return output


def rows(output: Output) -> dict[str, list[dict[str, object]]]:
    return {table: read_table(output.directory, table).to_pylist() for table in TABLES}


def columns_by_default(output: Output, table: str) -> list[list[str]]:
    """Those that DuckDB and pyarrow find, without any option."""
    files = f"'{output.directory}/{table}/*.parquet'"
    with duckdb.connect() as connection:
        described = connection.execute(f"DESCRIBE SELECT * FROM {files}").fetchall()
        counted = connection.execute(f"SELECT count(*), count(COLUMNS(*)) FROM {files}").fetchone()
    assert counted is not None
    assert counted[0] == len(read_table(output.directory, table))
    return [[row[0] for row in described], ds.dataset(output.directory / table).schema.names]


def test_a_compaction_writes_files_with_old_columns_anew(grown: Output) -> None:
    """A snapshot's as well, which is never merged with anything."""
    before = rows(grown)
    for found in columns_by_default(grown, TABLE):
        assert NEW not in found, "the first file decides"
    assert main(["compact", "--output", str(grown.directory)]) == 0
    assert rows(grown) == before
    for table in TABLES:
        assert columns_by_default(grown, table) == [table_schemas()[table].names] * 2
        for path in (grown.directory / table).glob("*.parquet"):
            assert pq.read_schema(path).equals(table_schemas()[table])
    snapshot, log = grown.manifests()
    assert (snapshot.snapshot, snapshot.revision, log.revision) == (True, 1, 0)
    assert all(file.path.partition("/")[2].startswith("snapshot-") for file in snapshot.files)
    grown.check_files()
    names = sorted(grown.directory.rglob("*.parquet"))
    assert main(["compact", "--output", str(grown.directory)]) == 0
    assert sorted(grown.directory.rglob("*.parquet")) == names, "once is enough"


def test_columns_that_have_more_in_them_are_columns_of_this_release() -> None:
    """A struct that gained a field is a column of another type to DuckDB."""
    from kraftctl_spark.tables.file_schemas import is_old

    schema = table_schemas()["register_broker_record"]
    place = schema.get_field_index("end_points")
    inner = schema.field(place).type.value_field.type
    fewer = pa.list_(pa.field("element", pa.struct([inner.field(i) for i in range(inner.num_fields - 1)])))
    older = schema.set(place, pa.field("end_points", fewer))
    assert [is_old(one, "register_broker_record") for one in (schema, older)] == [False, True]
    assert not is_old(older, "a_table_of_a_later_release")


def with_field(schema: pa.Schema, name: str) -> pa.Schema:
    """With one more field in the structs of a column."""
    place = schema.get_field_index(name)
    fields = list(schema.field(place).type.value_field.type)
    more = pa.struct([*fields, pa.field("of_a_later_release", pa.int32())])
    return schema.set(place, pa.field(name, pa.list_(pa.field("element", more))))


def test_files_with_fields_of_a_later_release_are_not_old() -> None:
    """Wherever the field is, and if the file lacks one of this release too: they would lose it."""
    from kraftctl_spark.tables.file_schemas import is_later, is_old

    table = "register_broker_record"
    schema = table_schemas()[table]
    later = schema.append(pa.field("of_a_later_release", pa.int32()))
    within = with_field(schema, "end_points")
    both = within.remove(within.get_field_index("is_migrating_zk_broker"))
    assert [is_old(one, table) for one in (later, within, both)] == [False] * 3
    assert [is_later(one, table) for one in (later, within, both)] == [True] * 3
    assert is_later(schema, "a_table_of_a_later_release")
    assert not is_later(schema, table)
    assert not is_later(both.remove(both.get_field_index("end_points")), table)


@pytest.mark.parametrize("regular", [False, True], ids=["compact", "run"])
@pytest.mark.parametrize("what", ["column", "table"])
def test_what_a_later_release_wrote_stays(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, what: str, regular: bool
) -> None:
    """Its batch is copied into no file of this release, but those before and after it are merged."""
    quorum.append(*mixed_batches(0, 80))
    output = Output(tmp_path)
    with exporting(output.directory, controller.endpoint) as exporter:
        for end in (10, 30, 40, 50, 80):
            exporter.export_to(end, 1)
    manifests = output.manifests()
    assert len(manifests) == 5
    later = manifests[2]
    (file,) = [one for one in later.files if one.table == TABLE]
    path = output.directory / file.path
    written = pq.read_table(path)
    if what == "column":
        pq.write_table(written.append_column("of_a_later_release", pa.array(range(len(written)))), path)
        later = replace(later, files=tuple(one for one in later.files if one != file) + (file,))
    else:
        added = output.directory / "later_record" / path.name
        added.parent.mkdir()
        pq.write_table(written, added)
        new = replace(file, table="later_record", path=f"later_record/{path.name}")
        later = replace(later, files=(*later.files, new))
    rewrite(output.directory, lambda batch: later if batch.name == later.name else batch)
    output = Output(output.directory)
    (later,) = [one for one in output.manifests() if one.name == later.name]
    output.check_files()
    before = rows(output)
    if regular:
        RegularCompaction(output, batches=1, keep_ms=0).after_batch()
    else:
        assert main(["compact", "--output", str(output.directory)]) == 0
    assert [one for one in output.manifests() if one == later] == [later]
    assert len(output.manifests()) == 3
    output.check_files()
    assert rows(output) == before


def test_an_export_writes_them_anew_bit_by_bit(grown: Output) -> None:
    """Though it copies no large file in its frequent compactions: they cost one run of files each."""
    before = rows(grown)
    regular = RegularCompaction(grown, batches=1, keep_ms=0)
    regular.after_batch()
    assert [one.revision for one in grown.manifests()] == [1, 0, 0]
    assert NEW in pq.read_schema(grown.directory / grown.manifests()[0].files[1].path).names
    regular.after_batch()
    assert [(one.start, one.end) for one in grown.manifests()] == [(0, SNAPSHOT_END), (SNAPSHOT_END, 80)]
    assert rows(grown) == before
    assert columns_by_default(grown, TABLE) == [table_schemas()[TABLE].names] * 2


def test_readers_of_replaced_batches_have_a_grace_period(grown: Output) -> None:
    files = [grown.directory / file.path for one in grown.manifests() for file in one.files]
    assert main(["compact", "--output", str(grown.directory), "--keep-removed", "1 hour"]) == 0
    assert all(path.exists() for path in files)
    assert main(["compact", "--output", str(grown.directory)]) == 0
    assert not any(path.exists() for path in files)


def test_killed_after_any_step_it_is_done_again(grown: Output) -> None:
    before = rows(grown)
    position = grown.position()
    for step in range(1, 200):
        child = multiprocessing.get_context("spawn").Process(
            target=compact_and_die, args=(grown.directory, step)
        )
        child.start()
        child.join(60)
        assert grown.position() == position
        assert rows(grown) == before
        grown.check_files()
        if child.exitcode == 0:
            break
    assert child.exitcode == 0
    assert step > 10
    offsets = [row["offset"] for row in before["records"] if row["offset"] is not None]
    assert offsets_in_directory(grown.directory, "records", "[0-9]*.parquet") == offsets
    assert len(list(grown.directory.glob("records/snapshot-*"))) == 1
    assert not list(grown.directory.rglob("*.tmp"))


def test_the_options_in_the_documentation_find_a_new_column_before_that(grown: Output) -> None:
    assert "union_by_name = true" in README
    files = f"{grown.directory}/{TABLE}/*.parquet"
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT {NEW} FROM read_parquet('{files}', union_by_name = true)")
        assert len(found.fetchall()) == len(read_table(grown.directory, TABLE))
        with pytest.raises(duckdb.BinderException):
            connection.execute(f"SELECT {NEW} FROM '{files}'")
    assert 'schema=table_schemas()["topic_record"]' in README
    table = ds.dataset(grown.directory / TABLE, schema=table_schemas()[TABLE]).to_table()
    assert len(table[NEW]) == len(read_table(grown.directory, TABLE))
