"""Views of the state, over generated logs with aborted transactions, gaps and all record types.

Kafka's own MetadataImage says what the state is. The history views are the questions of
tests/spark/history/test_questions.py, which Spark answers in test_questions_in_spark.py.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.views import UnknownPointError, diff, register_views, state_at
from tests.spark.history.test_versions import FIRST_PART, SEED, Tables, export, gappy, history
from tests.spark.history_truth import Row
from tests.spark.metadata_histories import EPOCH, History
from tests.spark.view_check import (
    compare_state,
    kafka_states,
    local_spark,
)

pytestmark = [pytest.mark.java, pytest.mark.spark, pytest.mark.slow]

__all__ = ["gappy", "history"]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with local_spark() as session:
        yield session


def views_of(made: History, directory: Path) -> Path:
    """The tables of a log, with their history."""
    export(made, directory, [made.end])
    HistoryTables(directory, directory / DIRECTORY).catch_up()
    return directory


@pytest.fixture(scope="module")
def kafkas(
    history: History, gappy: Tables, tmp_path_factory: pytest.TempPathFactory
) -> dict[int, dict[str, list[Row]]]:
    """Kafka's state at two random offsets, the second one the last of a batch, and next to the gaps."""
    known = [offset for part in gappy.known[:2] for offset in part[:-1]]
    last = [offset for offset in known if history.times[offset] != history.times[offset + 1]]
    rng = random.Random(SEED)
    edges = [edge for part in gappy.known for edge in (part[0], part[-1])]
    offsets = [rng.choice(known), rng.choice(last), *edges]
    return kafka_states(history.values, offsets, tmp_path_factory.mktemp("kafka") / "records.txt")


@pytest.mark.parametrize("by", ["offset", "time"])
def test_the_state_as_of_a_point_is_kafkas(
    spark: SparkSession,
    history: History,
    gappy: Tables,
    kafkas: dict[int, dict[str, list[Row]]],
    by: str,
) -> None:
    """More offsets, in DuckDB: tests/spark/history/test_versions_of_kafka.py."""
    offset = list(kafkas)[["offset", "time"].index(by)]
    time = datetime.fromtimestamp(history.times[offset] / 1000, UTC).isoformat()
    point = {"offset": offset} if by == "offset" else {"time": time}
    compare_state(spark, gappy.raw, kafkas[offset], history=gappy.versions, **point)


def config_values(state: dict[str, list[Row]]) -> dict[tuple[Any, ...], str]:
    ids = {topic["topic"]: topic["topic_id"] for topic in state["topics"]}
    return {
        (
            row["resource_type"],
            row["resource_name"],
            ids[row["resource_name"]] if row["resource_type"] == "TOPIC" else None,
            row["name"],
        ): row["value"]
        for row in state["configs"]
    }


@pytest.mark.parametrize(
    ("point", "message"),
    [
        pytest.param({"offset": FIRST_PART + 10}, "as of offset 210 is not known: choose", id="in-a-gap"),
        pytest.param({"offset": 10_000}, "not known", id="beyond-the-end"),
        pytest.param({"time": "2026-11-21T11:20:00Z"}, "is in a gap of the log", id="time-in-a-gap"),
        pytest.param({"time": "2026-11-21T08:00:00Z"}, "before the first state", id="too-early"),
        pytest.param({"time": "2126-11-21T08:00:00Z"}, "not known yet: the history ends at", id="too-late"),
        pytest.param({"time": "2026-11-21T11:20:00"}, "no time zone", id="no-zone"),
        pytest.param({}, "either offset", id="no-point"),
        pytest.param({"offset": 1, "time": "2026-11-21T11:20:00Z"}, "either offset", id="two-points"),
    ],
)
def test_points_that_are_refused(
    spark: SparkSession, gappy: Tables, point: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        state_at(spark, gappy.raw, history=gappy.versions, **point)


def test_a_time_means_the_last_offset_that_is_not_later(spark: SparkSession, tmp_path: Path) -> None:
    """The second leader's clock is behind that of the first one."""
    made = History(end=3)
    for offset, seconds in enumerate((10, 50, 30)):
        record = FeatureLevelRecord(name="group.version", feature_level=offset + 1)
        value = encode_metadata_record(record, 0)
        made.batches.append(encode_batch(offset, EPOCH, 1_795_251_600_000 + seconds * 1000, [value]))
    views_of(made, tmp_path)
    for seconds, level in ((10, 1), (29, 1), (30, 3), (40, 3), (50, 3)):
        when = datetime(2026, 11, 21, 9, 0, seconds, tzinfo=UTC)
        (row,) = state_at(spark, tmp_path, time=when)["features"].collect()
        assert row["level"] == level, seconds
    with pytest.raises(UnknownPointError, match=r"ends at 2026-11-21T09:00:50.000\+00:00, with offset 2"):
        state_at(spark, tmp_path, time=datetime(2026, 11, 21, 9, 0, 51, tzinfo=UTC))


def test_a_token_that_never_expires(spark: SparkSession, tmp_path: Path) -> None:
    """For a longer lifetime, Kafka writes the largest number, which is no date."""
    record = DelegationTokenRecord(
        owner="User:a", requester="User:a", token_id="t", issue_timestamp=1000, max_timestamp=2**63 - 1
    )
    record.expiration_timestamp = 253_402_300_800_000
    made = History(end=1)
    made.batches.append(encode_batch(0, EPOCH, 1000, [encode_metadata_record(record, 0)]))
    views_of(made, tmp_path)
    (row,) = state_at(spark, tmp_path, offset=0)["delegation_tokens"].collect()
    assert (row["issue_time"].microsecond, row["max_time"], row["expiration_time"]) == (0, None, None)


def test_times_that_are_no_dates(spark: SparkSession, tmp_path: Path) -> None:
    """Including the start and the end of the log."""
    made = History(end=3)
    for offset, time_ms in enumerate((2**63 - 1, 1_795_251_600_000, -(2**63))):
        value = encode_metadata_record(FeatureLevelRecord(name="group.version", feature_level=offset + 1), 0)
        made.batches.append(encode_batch(offset, EPOCH, time_ms, [value]))
    views_of(made, tmp_path)
    register_views(spark, tmp_path)
    (known,) = spark.sql("SELECT start_time, end_time FROM known_ranges").collect()
    assert known["start_time"] == known["end_time"] == datetime.fromtimestamp(1_795_251_600)
    assert [row["level"] for row in spark.sql("SELECT level FROM features").collect()] == [3]


def test_a_difference_is_that_of_kafkas_states(
    spark: SparkSession, gappy: Tables, kafkas: dict[int, dict[str, list[Row]]]
) -> None:
    before, after = gappy.known[0][-1], gappy.known[2][-1]
    rows = [row.asDict() for row in diff(spark, gappy.raw, before, after, gappy.versions).collect()]
    partitions: list[dict[tuple[str, int], Row]] = [
        {(row["topic_id"], row["partition_id"]): row for row in kafkas[offset]["partitions"]}
        for offset in (before, after)
    ]
    expected = set()
    for key in set(partitions[0]) | set(partitions[1]):
        old, new = (side.get(key, {}) for side in partitions)
        change = "added" if not old else "removed" if not new else "changed"
        texts = [{name: as_text(value) for name, value in side.items()} for side in (old, new)]
        expected |= {
            (json.dumps(dict(zip(("topic_id", "partition_id"), key, strict=True))), change, field)
            + (texts[0].get(field), texts[1].get(field))
            for field in set(old) | set(new)
            if old.get(field) != new.get(field)
        }
    found = {
        (json.dumps(json.loads(row["key"])), row["change"], row["field"], row["before"], row["after"])
        for row in rows
        if row["view"] == "partitions"
    }
    assert found == expected
    configs = {
        (row["before"], row["after"]) for row in rows if (row["view"], row["field"]) == ("configs", "value")
    }
    values = [config_values(kafkas[offset]) for offset in (before, after)]
    keys = [key for key in set(values[0]) | set(values[1]) if values[0].get(key) != values[1].get(key)]
    assert configs == {(values[0].get(key), values[1].get(key)) for key in keys}


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
