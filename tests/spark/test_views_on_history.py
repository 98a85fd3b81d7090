"""The views on the history give the same answers as their older SQL on the typed tables: the oracle."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.log import log_range
from kraftctl_spark.tables.manifest import ExportRefusedError, Output
from kraftctl_spark.views import HISTORY_VIEWS, STATE_VIEWS, diff, register_views, state_at
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import EPOCH, History, generate, time_of
from tests.spark.oracle.views import Oracle
from tests.spark.test_damaged_pages import flip, pages
from tests.spark.test_views import FIRST_PART, SEED, export
from tests.spark.typed_export import exporting
from tests.spark.view_check import comparable, compare_rows, local_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

POINTS = 2
KINDS = ("whole", "gappy", "clock-behind")
MORE_KINDS = [pytest.param(kind, marks=() if kind == "gappy" else pytest.mark.long) for kind in KINDS]

VIEWS_OF_BOTH = ("config_audit", "growth_per_hour")
"""They read the typed tables, too, or end where the history does."""
HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with local_spark() as session:
        yield session


@dataclass
class Exported:
    directory: Path
    known: list[range]
    """Offsets at which the state is known."""


def behind(offset: int) -> int:
    """A second leader, whose clock is two hours behind, and a third one, which is right again."""
    return time_of(offset) - (2 * HOUR_MS if 300 <= offset < 450 else 0)


@pytest.fixture(scope="module", params=MORE_KINDS)
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """With aborted transactions, topics with a former name, unclean elections and reassignments."""
    directory = tmp_path_factory.mktemp(request.param)
    clock = behind if request.param == "clock-behind" else time_of
    made = generate(SEED + KINDS.index(request.param), 600, snapshots=(250, 420), clock=clock)
    if request.param != "gappy":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(log_range, "OFFSETS_PER_RANGE", 80)
            export(made, directory, [150, 151, 300, made.end])
        return Exported(directory, [range(made.end)])
    first, second = sorted(made.snapshots)
    export(made, directory, [FIRST_PART, first + 40, made.end], (first, second))
    ends = [one.start for one in Output(directory).manifests() if one.snapshot]
    return Exported(directory, [range(ends[0]), range(first - 1, ends[1]), range(second - 1, made.end)])


@pytest.fixture(scope="module")
def oracle(spark: SparkSession, exported: Exported) -> Oracle:
    register_views(spark, exported.directory)
    return Oracle(spark, exported.directory)


def rows(frame: Any) -> list[dict[str, Any]]:
    return [row.asDict(True) for row in frame.collect()]


@pytest.mark.parametrize("view", HISTORY_VIEWS)
def test_history(spark: SparkSession, oracle: Oracle, view: str) -> None:
    expected = oracle.history(view)
    found = spark.table(view)
    assert found.columns == expected.columns
    compare_rows(view, rows(found), rows(expected))


@pytest.mark.long
def test_states(spark: SparkSession, exported: Exported, oracle: Oracle) -> None:
    rng = random.Random(SEED)
    points = [edge for part in exported.known for edge in (part[0], part[-1])]
    points += rng.sample([offset for part in exported.known for offset in part], POINTS)
    for offset in points:
        views = state_at(spark, exported.directory, offset=offset, prefix="state_")
        for name, found in views.items():
            expected = oracle.state(name, offset)
            assert found.columns == expected.columns
            compare_state_rows(f"{name} as of {offset}", rows(found), rows(expected))
    for name in STATE_VIEWS:
        compare_state_rows(name, rows(spark.table(name)), rows(oracle.state(name, exported.known[-1][-1])))


def compare_state_rows(what: str, found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """A record that changes nothing about a broker was its last one in the older views."""
    if what.startswith("brokers"):
        last = {row["broker_id"]: row["changed_offset"] for row in expected}
        assert all(row["changed_offset"] <= last[row["broker_id"]] for row in found)
        for row in (*found, *expected):
            del row["changed_offset"], row["changed_time"]
    compare_rows(what, found, expected)


@pytest.mark.long
def test_differences(spark: SparkSession, exported: Exported, oracle: Oracle) -> None:
    """In both directions, and over gaps."""
    first, last = exported.known[0][0] + 20, exported.known[-1][-1]
    for before, after in ((first, last), (last, first) if len(exported.known) > 1 else (last, last)):
        found = rows(diff(spark, exported.directory, before, after))
        expected = rows(oracle.difference(before, after))
        assert comparable(found, set()) == comparable(expected, set()), (before, after)
        assert bool(found) == (before != after)


def export_more(made: History, directory: Path, end: int) -> None:
    """Without secrets, and without a history."""
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    quorum.append(*made.batches)
    try:
        with exporting(directory, controller.endpoint) as exporter:
            exporter.export_to(end, EPOCH)
    finally:
        controller.close()


def test_without_a_history_the_command_that_makes_one_is_named(spark: SparkSession, tmp_path: Path) -> None:
    made = generate(7, 60, snapshots=())
    export_more(made, tmp_path, made.end)
    message = f"holds no history, .*: kraftctl-export history --tables {tmp_path} computes it"
    for ask in (
        lambda: register_views(spark, tmp_path),
        lambda: state_at(spark, tmp_path, offset=3),
        lambda: diff(spark, tmp_path, 3, 4),
    ):
        with pytest.raises(ExportRefusedError, match=message):
            ask()
    with pytest.raises(
        ExportRefusedError, match=f"--tables {tmp_path} --output {tmp_path / 'other'} computes"
    ):
        register_views(spark, tmp_path, history=tmp_path / "other")


def test_views_end_where_the_history_ends(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Also for what the views read in the typed tables; the history may be somewhere else."""
    made = generate(11, 400, snapshots=())
    export_more(made, tmp_path / "part", 200)
    end = Output(tmp_path / "part").position().offset
    HistoryTables(tmp_path / "part", tmp_path / "versions").catch_up()
    export_more(made, tmp_path / "part", made.end)
    with caplog.at_level(logging.WARNING):
        register_views(spark, tmp_path / "part", prefix="part_", history=tmp_path / "versions")
    (warning,) = [record.getMessage() for record in caplog.records]
    assert f"at offset {end - 1}; the tables end at offset {made.end - 1}: kraftctl-export history" in warning
    export_more(made, tmp_path / "until", end)
    oracle = Oracle(spark, tmp_path / "until")
    for view in VIEWS_OF_BOTH:
        compare_rows(view, rows(spark.table(f"part_{view}")), rows(oracle.history(view)))
    compare_state_rows("configs", rows(spark.table("part_configs")), rows(oracle.state("configs", end - 1)))
    assert spark.table("part_records").count() == made.end
    with pytest.raises(ValueError, match="is not known"):
        state_at(spark, tmp_path / "part", offset=end, history=tmp_path / "versions")


def test_a_history_of_another_cluster_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    made = generate(7, 60, snapshots=())
    export(made, tmp_path, [made.end])
    manifest = tmp_path / DIRECTORY / "_history.json"
    manifest.write_text(manifest.read_text().replace('"cluster_id": "', '"cluster_id": "other-'))
    with pytest.raises(ExportRefusedError, match="is the history of cluster other-"):
        register_views(spark, tmp_path, prefix="other_")


def test_a_damaged_page_fails_a_query(spark: SparkSession, tmp_path: Path) -> None:
    """Even where other values could be read."""
    made = generate(7, 60, snapshots=())
    export(made, tmp_path, [made.end])
    register_views(spark, tmp_path, prefix="damaged_")
    for view, files in (("topic_history", "history/topics"), ("records", "records")):
        for path in (tmp_path / files).glob("*.parquet"):
            for column in pages(path):
                flip(path, column[-1], 1)
        with pytest.raises(Py4JJavaError, match="CRC checksum verification failed"):
            spark.table(f"damaged_{view}").collect()
