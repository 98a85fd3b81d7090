"""`spark.read.format("kraft")` in a real Spark: filters that are pushed down, empty ranges, and errors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_spark.datasource.registration import FILTER_PUSHDOWN, register_source
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.typed_export import mixed_batches
from tests.spark.view_check import local_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

END = 90


@pytest.fixture
def spark() -> Iterator[SparkSession]:
    with local_spark() as session:
        yield session


@pytest.fixture
def options(controller: FakeController, quorum: FakeQuorum) -> dict[str, str]:
    quorum.append(*mixed_batches(0, END))
    host, port = controller.endpoint
    return {"bootstrapControllers": f"{host}:{port}", "requestTimeoutMs": "3000"}


def fetched(quorum: FakeQuorum) -> set[int]:
    """The offsets that the controllers were asked for, except those of planning."""
    wanted = [request.topics[0].partitions[0] for _, request in quorum.requests if _is_fetch(request)]
    quorum.requests.clear()
    return {one.fetch_offset for one in wanted} - {0, 1, END}


def _is_fetch(request: object) -> bool:
    return isinstance(request, FetchRequest)


FILTERS = {
    "offset BETWEEN 30 AND 40": set(range(30, 41)),
    "offset = 50 AND type = 'NoOpRecord'": {50},
    "offset IN (3, 5, 8) AND NOT offset = 5": set(range(3, 9)),
    "offset IN (12, 80) AND partition_change_record.leader = 2": set(range(12, 81)),
    "offset > 80 AND timestamp >= timestamp_millis(1084)": set(range(81, 90)),
    "timestamp BETWEEN timestamp_millis(1021) AND timestamp_millis(1035)": set(range(END)),
    "offset < 0": set(),
    "offset < 5 OR offset > 85": set(range(END)),
    "snapshot_index IS NULL AND offset IS NOT NULL AND length(payload) > 3": set(range(END)),
}
"""Filters, and the offsets that a controller may be asked for."""


def test_reads_and_what_they_refuse(spark: SparkSession, options: dict[str, str], quorum: FakeQuorum) -> None:
    register_source(spark)
    assert spark.conf.get(FILTER_PUSHDOWN) == "true"
    spark.conf.set(FILTER_PUSHDOWN, "false")  # Spark's default.
    source = spark.read.format("kraft").options(**options)
    everything = source.load().cache()
    without = {text: everything.where(text).orderBy("offset").collect() for text in FILTERS}
    assert [row["offset"] for row in without["offset BETWEEN 30 AND 40"]] == list(range(30, 41))
    assert len(without["timestamp BETWEEN timestamp_millis(1021) AND timestamp_millis(1035)"]) == 21

    spark.conf.set(FILTER_PUSHDOWN, "true")
    fetched(quorum)
    for text, allowed in FILTERS.items():
        assert source.load().where(text).orderBy("offset").collect() == without[text], text
        assert fetched(quorum) <= allowed, text

    assert source.option("startingOffset", END).load().collect() == []
    refused = source.option("startingOffset", END + 1).load()
    with pytest.raises(PySparkException) as raised:
        refused.collect()
    assert_is_one_line(raised.value, "option startingOffset=91: the range to read ends at 90")
    with pytest.raises(PySparkException) as raised:
        spark.read.format("kraft").options(**options).option("endingOffset", END + 1).load().count()
    assert_is_one_line(raised.value, "option endingOffset=91: the log is committed up to 90 only")
    with pytest.raises(PySparkException) as raised:
        spark.read.format("kraft").option("directory", "s3a://b/x").load()
    assert_is_one_line(raised.value, "option directory: s3a://b/x: s3a: is not supported")


def test_a_session_that_is_configured_stays_so(spark: SparkSession) -> None:
    spark.conf.set(FILTER_PUSHDOWN, "false")
    register_source(spark)
    assert spark.conf.get(FILTER_PUSHDOWN) == "false"


def assert_is_one_line(error: PySparkException, text: str) -> None:
    """Without the traceback of the process of Spark in which the source noticed it."""
    first, *others = str(error).strip().splitlines()
    assert text in first
    assert [line.strip() for line in others] == ["SQLSTATE: 38000"]
