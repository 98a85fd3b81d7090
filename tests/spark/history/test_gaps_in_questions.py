"""Gaps cut into a log: the answers are those of the whole log where it is known, and null where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl_protocol.record_batch import encode_batch, read_batch_header, read_batches
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.questions.questions import parameters_of, sources
from tests.spark.compared_rows import compare_rows
from tests.spark.history.asked import Row, in_duckdb
from tests.spark.history.test_versions import Tables, export, gappy, history, whole
from tests.spark.metadata_histories import EPOCH, History, generate

__all__ = ["gappy", "history", "whole"]

HOUR_MS = 3_600_000

TOTALS = {"leaders_per_broker": ("leaders",), "growth_per_hour": ("topics", "partitions", "brokers")}
"""The numbers at the end of an hour, by question."""


def by_hour(rows: list[Row], names: tuple[str, ...]) -> dict[tuple[int | None, int], tuple[int | None, ...]]:
    return {
        (row.get("broker_id"), int(row["hour"].timestamp() * 1000)): tuple(row[name] for name in names)
        for row in rows
    }


def unknown_hours(tables: Tables, history: History) -> set[int]:
    """The hours whose end is in a gap."""
    found = set()
    for before, after in zip(tables.known, tables.known[1:], strict=False):
        start_ms, end_ms = history.times[before[-1]], history.times[after.start]
        found |= set(range(start_ms - start_ms % HOUR_MS, end_ms - end_ms % HOUR_MS, HOUR_MS))
    return found


@pytest.mark.parametrize("question", TOTALS)
def test_totals_are_those_of_the_whole_log_or_null(
    whole: Tables, gappy: Tables, history: History, question: str
) -> None:
    with in_duckdb(whole.versions) as asked:
        expected = by_hour(asked.rows(question), TOTALS[question])
    with in_duckdb(gappy.versions) as asked:
        found = by_hour(asked.rows(question), TOTALS[question])
    unknown = unknown_hours(gappy, history)
    nulls = {key for key, values in found.items() if None in values}
    assert nulls == {key for key in found if key[1] in unknown}
    assert nulls
    for (broker, hour_ms), values in found.items():
        if hour_ms not in unknown:
            earlier = [one for one in expected if one[0] == broker and one[1] <= hour_ms]
            before = expected[max(earlier, key=lambda one: one[1])] if earlier else (0,) * len(values)
            assert values == before, (broker, hour_ms)


def test_events_outside_of_gaps_are_those_of_the_whole_log(whole: Tables, gappy: Tables) -> None:
    """Of every question that has a row for something that happened at an offset."""
    with in_duckdb(whole.versions) as all_of_it, in_duckdb(gappy.versions) as asked:
        for question in ("isr_changes", "elections", "security_audit", "config_audit"):
            known = {offset for part in gappy.known for offset in part[1:]} | {0}
            expected = [row for row in all_of_it.rows(question) if row["offset"] in known]
            found = [row for row in asked.rows(question) if row.get("exact", True)]
            compare_rows(question, found, [row for row in expected if row["offset"] in known])


def test_no_question_fails_on_a_history_with_gaps(gappy: Tables) -> None:
    with in_duckdb(gappy.versions) as asked:
        for question in sources():
            if not parameters_of(question):
                asked.rows(question)


def test_one_value_that_is_no_number_hides_nothing(whole: Tables, history: History) -> None:
    """It counts as if the topic had none."""
    as_of = history.end - 1
    with in_duckdb(whole.versions) as asked:
        configs = [
            row for row in asked.rows("configs_at", as_of=as_of) if row["name"] == "min.insync.replicas"
        ]
        topics = {row["topic_id"]: int(row["value"]) for row in configs if row["resource_type"] == "TOPIC"}
        default = next((int(row["value"]) for row in configs if row["resource_name"] == ""), 1)
        wrong = min(topics)
        topics |= {wrong: default}
        expected = {
            (row["topic_id"], row["partition_id"])
            for row in asked.rows("partitions_at", as_of=as_of)
            if len(row["isr"])
            < (default if row["topic_id"] == wrong else topics.get(row["topic_id"], default))
        }
        asked.do(
            "CREATE OR REPLACE VIEW configs AS SELECT * REPLACE (CASE WHEN name = 'min.insync.replicas' "
            f"AND topic_id = '{wrong}' THEN 'many' ELSE value END AS value) FROM 'configs/*.parquet'"
        )
        found = asked.rows("under_min_isr", as_of=as_of)
    assert {(row["topic_id"], row["partition_id"]) for row in found} == expected


UNKNOWN_TYPE = bytes([1, 120, 3, 0])


def with_an_unknown_record(snapshot: bytes) -> bytes:
    """The last record between header and footer is one of an unknown type."""
    _, content, _ = read_batches(snapshot)
    start = read_batch_header(snapshot, 0).size_bytes
    end = start + content.header.size_bytes
    values = [*(record.value or b"" for record in content.records[:-1]), UNKNOWN_TYPE]
    time_ms = content.header.max_timestamp_ms
    batch = encode_batch(content.header.base_offset, EPOCH, time_ms, values)
    return snapshot[:start] + batch + snapshot[end:]


@pytest.fixture(scope="module", params=[False, True], ids=["to-the-end", "up-to-another-snapshot"])
def lost(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[int]]:
    """A history with a gap that ends with a snapshot that is not understood, and the times that are known."""
    directory = tmp_path_factory.mktemp("lost")
    made = generate(20261130, 300, snapshots=(120, 220))
    first, second = sorted(made.snapshots)
    made.snapshots[first] = with_an_unknown_record(made.snapshots[first])
    again = request.param
    ends = [60, first + 40, made.end] if again else [60, made.end]
    export(made, directory / "raw", ends, (first, second) if again else (first,))
    HistoryTables(directory / "raw", directory / "history").catch_up()
    known = set(range(60)) | (set(range(second - 1, made.end)) if again else set())
    return directory / "history", {made.times[offset] for offset in known}


def test_behind_a_snapshot_that_is_not_understood_no_total_is_known(lost: tuple[Path, set[int]]) -> None:
    history, known_ms = lost
    hours = {time_ms - time_ms % HOUR_MS for time_ms in known_ms}
    with in_duckdb(history) as asked:
        for question, names in TOTALS.items():
            found = by_hour(asked.rows(question), names)
            assert found
            for (_, hour_ms), values in found.items():
                assert hour_ms in hours or set(values) == {None}, (question, hour_ms)


def test_a_snapshot_that_is_not_understood_removes_no_configuration(lost: tuple[Path, set[int]]) -> None:
    history, known_ms = lost
    with in_duckdb(history) as asked:
        found = [row for row in asked.rows("config_audit") if row["cause"] == "gap"]
        times = {int(row["time"].timestamp() * 1000) for row in found}
    assert times <= known_ms
