"""VIEWS.md: every view has its actual columns and types, and every example runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kraftctl_spark.history import DIRECTORY as HISTORY
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables.output import Output
from kraftctl_spark.views import HISTORY_VIEWS, STATE_VIEWS, diff, register_tables, register_views
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import EPOCH, generate
from tests.spark.typed_export import exporting
from tests.spark.view_check import local_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TEXT = (Path(__file__).parents[2] / "spark" / "VIEWS.md").read_text()
SECTIONS = {
    found.group(1): found.group(2)
    for found in re.finditer(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL)
}
SQL = re.compile(r"```sql\n(.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
DIRECTORY = '"/data/metadata"'


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with local_spark() as session:
        yield session


@pytest.fixture(scope="module")
def directory(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The views of a small export."""
    made = tmp_path_factory.mktemp("export")
    history = generate(7, 300, snapshots=())
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    quorum.append(*history.batches)
    try:
        with exporting(made, controller.endpoint) as exporter:
            exporter.export_to(history.end, EPOCH)
    finally:
        controller.close()
    HistoryTables(made, made / HISTORY).catch_up()
    register_views(spark, made)
    return made


def documented(rows: str, known: dict[str, list[tuple[str, str]]]) -> list[tuple[str, str]]:
    """Names and types in a section's table; `as in` another view, or a run of its columns, is looked up."""
    columns: list[tuple[str, str]] = []
    for line in re.findall(r"^\| (`.*?) \|", rows.replace("\\|", ""), re.MULTILINE):
        names = re.findall(r"`(\w+)`", line)
        kinds = _kinds(next(text for text in rows.splitlines() if text.startswith(f"| {line} |")))
        if kinds[0].startswith("as in"):
            like = dict(known[re.findall(r"`(\w+)`", kinds[0])[0]])
            if "…" in line:
                all_names = list(like)
                names = all_names[all_names.index(names[0]) : all_names.index(names[1]) + 1]
            kinds = [like[name] for name in names]
        columns += zip(names, kinds if len(kinds) > 1 else kinds * len(names), strict=True)
    return columns


def _kinds(line: str) -> list[str]:
    """The second cell, split at the commas that are not within a type."""
    cell = line.split(" | ")[1].strip()
    return [part.strip() for part in re.split(r",\s*(?![^<]*>)", cell)]


def test_every_view_is_documented() -> None:
    assert set(SECTIONS) == {"known_ranges", "not_known", *HISTORY_VIEWS, *STATE_VIEWS}


def test_columns_are_as_documented(spark: SparkSession, directory: Path) -> None:
    known: dict[str, list[tuple[str, str]]] = {}
    for name, section in SECTIONS.items():
        known[name] = documented(section, known)
        schema = {field.name: plain(field.dataType.simpleString()) for field in spark.table(name).schema}
        assert {column: plain(kind) for column, kind in known[name]} == schema, name
    listed = documented(TEXT.split("## The difference")[1], known)
    found = [
        (field.name, plain(field.dataType.simpleString())) for field in diff(spark, directory, 9, 9).schema
    ]
    assert [(column, plain(kind)) for column, kind in listed] == found


def plain(kind: str) -> str:
    return kind.lower().replace(" ", "")


def test_files_of_an_older_release_get_nulls(spark: SparkSession, directory: Path) -> None:
    (path,) = (directory / "partition_record").glob("*.parquet")
    whole = path.read_bytes()
    pq.write_table(pq.ParquetFile(path).read().drop_columns(["directories"]), path)
    try:
        assert set(register_tables(spark, directory)) == set(table_schemas())
        rows = spark.sql("SELECT partition_id, directories FROM partition_record").collect()
    finally:
        path.write_bytes(whole)
    assert rows
    assert all(row["directories"] is None and row["partition_id"] is not None for row in rows)


def test_tables_are_listed_again_when_a_compaction_was_faster(
    spark: SparkSession, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The listing contains a file that has been deleted meanwhile."""
    live = Output(directory).manifests()
    gone = replace(live[0], files=tuple(replace(file, path=f"{file.path}x") for file in live[0].files))
    listed = [[gone, *live[1:]]]
    monkeypatch.setattr(Output, "manifests", lambda self: listed.pop() if listed else live)
    assert "topics" in register_views(spark, directory)
    assert not listed
    assert spark.table("records").count() == sum(one.counts["records"] for one in live)
    monkeypatch.setattr(Output, "manifests", lambda self: [gone])
    with pytest.raises(FileNotFoundError):
        register_tables(spark, directory)


def test_the_example_of_each_view_fits_its_columns(spark: SparkSession, directory: Path) -> None:
    for section in SECTIONS.values():
        (example,) = SQL.findall(section)
        assert spark.sql(example).columns


@pytest.mark.parametrize(
    "view",
    [pytest.param(view, marks=[] if view in STATE_VIEWS else [pytest.mark.long]) for view in SECTIONS],
)
def test_the_example_of_a_view_runs(spark: SparkSession, directory: Path, view: str) -> None:
    """In every run those of the state, which are the quick ones; test_views.py reads all views."""
    (example,) = SQL.findall(SECTIONS[view])
    spark.sql(example).collect()


@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.long)])
def test_the_examples_in_python_run(spark: SparkSession, directory: Path, number: int) -> None:
    """The first one does all that the second one does."""
    examples = PYTHON.findall(TEXT)
    assert len(examples) == 2
    imports, _, example = examples[0].partition("\n")
    if number > 0:
        example = examples[number]
    assert DIRECTORY in example
    names: dict[str, Any] = {"spark": spark}
    exec(f"{imports}\n{example.replace(DIRECTORY, repr(str(directory)))}", names)
