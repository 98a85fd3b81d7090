"""What the report's SQL counts, on views with a few rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from kraftctl_spark.report.contents import FencedBroker
from kraftctl_spark.report.period import Period
from kraftctl_spark.report.queries import Query
from kraftctl_spark.views.log import Log
from tests.spark.view_check import local_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

States = list[tuple[str, int, int, str]]
"""State, start and end in seconds, and what it started by."""

KILLED: States = [("unfenced", 0, 10, "registered"), ("fenced", 10, 30, "changed")]
STOPPED: States = [
    ("unfenced", 0, 10, "registered"),
    ("controlled shutdown", 10, 12, "changed"),
    ("fenced", 12, 40, "changed"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with local_spark() as session:
        yield session


@pytest.mark.parametrize(
    ("states", "from_s", "expected"),
    [
        pytest.param(KILLED, 0, FencedBroker(7, 1, 20_000, 0), id="killed"),
        pytest.param(STOPPED, 0, FencedBroker(7, 0, 28_000, 1), id="stopped-in-order"),
        pytest.param(KILLED, 20, FencedBroker(7, 0, 10_000, 0), id="killed-before-the-period"),
        pytest.param(STOPPED, 20, FencedBroker(7, 0, 20_000, 0), id="stopped-before-the-period"),
    ],
)
def test_an_orderly_stop_is_not_counted_as_a_fencing(
    spark: SparkSession, states: States, from_s: int, expected: FencedBroker
) -> None:
    """Nor is what happened before the period."""
    rows = ", ".join(
        f"(7, 100L, '{state}', {start_s}L, timestamp_seconds({start_s}), timestamp_seconds({end_s}), '{by}')"
        for state, start_s, end_s, by in states
    )
    spark.sql(
        f"SELECT * FROM VALUES {rows} AS (broker_id, broker_epoch, state, start_offset, start_time, "
        "end_time, started_by)"
    ).createOrReplaceTempView("fencing_timeline")
    query = Query(spark, Period(from_s * 1000, 60_000), Log((), frozenset()))
    assert query.fenced_brokers().rows == (expected,)
