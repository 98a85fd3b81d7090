"""Views of the state, over generated logs with aborted transactions, gaps and all record types.

Kafka's own MetadataImage says what the state is. The history views are the questions of
tests/spark/history/test_questions.py, which Spark answers in test_questions_in_spark.py.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
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
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.manifest import Output
from kraftctl_spark.views import UnknownPointError, diff, register_views, state_at
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.history_truth import Row
from tests.spark.metadata_histories import EPOCH, History, generate
from tests.spark.typed_export import exporting
from tests.spark.view_check import (
    compare_state,
    kafka_states,
    local_spark,
)

pytestmark = [pytest.mark.java, pytest.mark.spark, pytest.mark.slow]

SEED = 20261121
OFFSETS_COMPARED = 20
IN_EVERY_RUN = (0, 1, 9, 12, 18)
"""Of these: one in each part, by offset and by time, before and after compaction. The others are `long`."""
FIRST_PART = 200
"""End of the export before the start of the log is deleted."""


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with local_spark() as session:
        yield session


@pytest.fixture(scope="module")
def history() -> History:
    return generate(SEED, 600, snapshots=(250, 420))


def export(history: History, directory: Path, ends: list[int], deleted_up_to: tuple[int, ...] = ()) -> None:
    """Exports up to each end; after each, the log before the next of these offsets is deleted."""
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    quorum.append(*history.batches)
    try:
        with exporting(directory, controller.endpoint, include_secrets=True) as exporter:
            for index, end in enumerate(ends):
                exporter.export_to(end, EPOCH)
                if index < len(deleted_up_to):
                    start = deleted_up_to[index]
                    quorum.batches = history.batches_from(start)
                    quorum.log_start_offset = start
                    quorum.snapshot, quorum.snapshot_bytes = (start, EPOCH), history.snapshots[start]
    finally:
        controller.close()
    HistoryTables(directory, directory / DIRECTORY).catch_up()


@dataclass
class Gappy:
    """The same log of which two parts were deleted before they were exported."""

    directory: Path
    known: list[range]
    """Offsets at which the state is known."""


@pytest.fixture(scope="module")
def gappy(history: History, tmp_path_factory: pytest.TempPathFactory) -> Gappy:
    directory = tmp_path_factory.mktemp("gappy")
    first, second = sorted(history.snapshots)
    export(history, directory, [FIRST_PART, first + 40, history.end], (first, second))
    ends = [one.start for one in Output(directory).manifests() if one.snapshot]
    known = [range(ends[0]), range(first - 1, ends[1]), range(second - 1, history.end)]
    return Gappy(directory, known)


@pytest.fixture(scope="module")
def kafkas(
    history: History, gappy: Gappy, tmp_path_factory: pytest.TempPathFactory
) -> dict[int, dict[str, list[Row]]]:
    """Kafka's state at random offsets, and at those next to the gaps."""
    known = [offset for offsets in gappy.known for offset in offsets]
    offsets = random.Random(SEED).sample(known, OFFSETS_COMPARED)
    assert all(any(offset in part for offset in offsets) for part in gappy.known)
    edges = [edge for part in gappy.known for edge in (part[0], part[-1])]
    return kafka_states(history.values, [*offsets, *edges], tmp_path_factory.mktemp("kafka") / "records.txt")


@pytest.mark.parametrize(
    "index",
    [
        pytest.param(index, marks=[] if index in IN_EVERY_RUN else [pytest.mark.long])
        for index in range(OFFSETS_COMPARED)
    ],
)
def test_the_state_as_of_random_points_is_kafkas(
    spark: SparkSession,
    history: History,
    gappy: Gappy,
    kafkas: dict[int, dict[str, list[Row]]],
    index: int,
) -> None:
    """Some by offset, some by time; the second half after compaction."""
    if index >= OFFSETS_COMPARED // 2:
        compact(Output(gappy.directory), grace_ms=0)
    offset = list(kafkas)[index]
    when = history.times[offset]
    last_of_batch = history.times.get(offset + 1) != when
    if index % 3 == 0 and last_of_batch:
        time = datetime.fromtimestamp(when / 1000, UTC).isoformat()
        compare_state(spark, gappy.directory, kafkas[offset], time=time)
    else:
        compare_state(spark, gappy.directory, kafkas[offset], offset=offset)


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
    spark: SparkSession, gappy: Gappy, point: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        state_at(spark, gappy.directory, **point)


def test_a_time_means_the_last_offset_that_is_not_later(spark: SparkSession, tmp_path: Path) -> None:
    """The second leader's clock is behind that of the first one."""
    made = History(end=3)
    for offset, seconds in enumerate((10, 50, 30)):
        record = FeatureLevelRecord(name="group.version", feature_level=offset + 1)
        value = encode_metadata_record(record, 0)
        made.batches.append(encode_batch(offset, EPOCH, 1_795_251_600_000 + seconds * 1000, [value]))
    export(made, tmp_path, [3])
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
    export(made, tmp_path, [1])
    (row,) = state_at(spark, tmp_path, offset=0)["delegation_tokens"].collect()
    assert (row["issue_time"].microsecond, row["max_time"], row["expiration_time"]) == (0, None, None)


def test_times_that_are_no_dates(spark: SparkSession, tmp_path: Path) -> None:
    """Including the start and the end of the log."""
    made = History(end=3)
    for offset, time_ms in enumerate((2**63 - 1, 1_795_251_600_000, -(2**63))):
        value = encode_metadata_record(FeatureLevelRecord(name="group.version", feature_level=offset + 1), 0)
        made.batches.append(encode_batch(offset, EPOCH, time_ms, [value]))
    export(made, tmp_path, [3])
    register_views(spark, tmp_path)
    (known,) = spark.sql("SELECT start_time, end_time FROM known_ranges").collect()
    assert known["start_time"] == known["end_time"] == datetime.fromtimestamp(1_795_251_600)
    assert [row["level"] for row in spark.sql("SELECT level FROM features").collect()] == [3]


def test_a_difference_is_that_of_kafkas_states(
    spark: SparkSession, gappy: Gappy, kafkas: dict[int, dict[str, list[Row]]]
) -> None:
    before, after = gappy.known[0][-1], gappy.known[2][-1]
    rows = [row.asDict() for row in diff(spark, gappy.directory, before, after).collect()]
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
