"""Which history the views read, up to where, and what they refuse."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from kraftctl_spark.views import diff, register_views, state_at
from tests.spark.compared_rows import compare_rows
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import EPOCH, History, generate
from tests.spark.rewritten import of_another_cluster, rewrite_commits
from tests.spark.test_damaged_pages import flip, pages
from tests.spark.test_views import views_of
from tests.spark.typed_export import exporting
from tests.spark.view_check import local_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with local_spark() as session:
        yield session


def rows(frame: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict(True) for row in frame.collect()]


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


@pytest.mark.long
def test_views_end_where_the_history_ends(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The history may be somewhere else."""
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
    HistoryTables(tmp_path / "until", tmp_path / "until" / DIRECTORY).catch_up()
    register_views(spark, tmp_path / "until", prefix="until_")
    for view in ("config_audit", "growth_per_hour", "configs"):
        compare_rows(view, rows(spark.table(f"part_{view}")), rows(spark.table(f"until_{view}")))
    assert spark.table("part_records").count() == made.end
    later = datetime.fromtimestamp(made.times[made.end - 1] / 1000, UTC)
    for point in ({"offset": end}, {"time": later}):
        with pytest.raises(ValueError, match="is not known"):
            state_at(spark, tmp_path / "part", history=tmp_path / "versions", **point)


def test_a_history_of_another_cluster_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    made = generate(7, 60, snapshots=())
    views_of(made, tmp_path)
    rewrite_commits(tmp_path, lambda commit: commit if commit.batches else of_another_cluster(commit))
    with pytest.raises(ExportRefusedError, match="is the history of cluster other-"):
        register_views(spark, tmp_path, prefix="other_")


def test_a_damaged_page_fails_a_query(spark: SparkSession, tmp_path: Path) -> None:
    """Even where other values could be read."""
    made = generate(7, 60, snapshots=())
    views_of(made, tmp_path)
    register_views(spark, tmp_path, prefix="damaged_")
    for view, files in (("topic_history", "history/topics"), ("records", "records")):
        for path in (tmp_path / files).glob("*.parquet"):
            for column in pages(path):
                flip(path, column[-1], 1)
        with pytest.raises(Py4JJavaError, match="CRC checksum verification failed"):
            spark.table(f"damaged_{view}").collect()
