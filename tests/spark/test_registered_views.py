"""Views of several clusters and points in one session, beside those of its user."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.views import NameTakenError, diff, register_tables, register_views, state_at
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import EPOCH, generate
from tests.spark.rewritten import of_another_cluster, rewrite_commits
from tests.spark.typed_export import exporting
from tests.spark.view_check import local_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def spark() -> Iterator[SparkSession]:
    with local_spark() as session:
        yield session


def export(directory: Path) -> Path:
    history = generate(7, 60, snapshots=())
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    quorum.append(*history.batches)
    try:
        with exporting(directory, controller.endpoint) as exporter:
            exporter.export_to(history.end, EPOCH)
    finally:
        controller.close()
    HistoryTables(directory, directory / DIRECTORY).catch_up()
    return directory


@pytest.mark.long
def test_no_view_replaces_what_shows_something_else(spark: SparkSession, tmp_path: Path) -> None:
    first, second = export(tmp_path / "a"), export(tmp_path / "b")
    rewrite_commits(second, of_another_cluster)
    spark.sql("SELECT 'mine' AS text").createOrReplaceTempView("records")

    with pytest.raises(NameTakenError, match=r"^records exists and shows something that was not registered"):
        register_views(spark, first)
    state_at(spark, first, offset=20)
    diff(spark, first, before=10, after=20).where("view = 'features'").count()
    assert [row["text"] for row in spark.table("records").collect()] == ["mine"]
    assert not spark.catalog.tableExists("topics")
    spark.catalog.dropTempView("records")

    register_views(spark, first)
    now = spark.table("brokers").collect()
    assert set(register_views(spark, first)) >= {"topics", "brokers", "known_ranges"}, (
        "again, to see newer records"
    )
    past = state_at(spark, first, offset=20)["brokers"].collect()
    assert spark.table("at_20_brokers").collect() == past != now
    with pytest.raises(NameTakenError, match="at the end of cluster"):
        state_at(spark, first, offset=20, prefix="")
    assert spark.table("brokers").collect() == now

    for register in (register_views, register_tables):
        with pytest.raises(NameTakenError, match="give another prefix"):
            register(spark, second)
    with pytest.raises(NameTakenError, match="at a point of cluster"):
        state_at(spark, second, offset=20)
    assert "eu_topics" in register_views(spark, second, prefix="eu_")
    assert spark.table("eu_brokers").collect() == now
    assert spark.table("brokers").collect() == now
