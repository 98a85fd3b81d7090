"""The views and macros: the answers of the questions, and points in time, against plain loops over a log."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest
import sqlglot

from kraftctl_spark.cli import main
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.questions.dialects import EXAMPLES
from kraftctl_spark.history.questions.files import text_of
from kraftctl_spark.history.questions.macros import MACROS, WITH_AUDIT_LOG, argument, macros
from kraftctl_spark.history.questions.questions import sources
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.history.versions.kinds import KINDS
from tests.spark.compared_rows import compare_rows
from tests.spark.history.asked import Row, in_duckdb
from tests.spark.history.asked_macros import time_text, with_macros, written
from tests.spark.history.image_at import images_at, partitions_of
from tests.spark.history.test_questions import behind
from tests.spark.history.test_versions import SEED, Tables, export, gappy, history, whole
from tests.spark.metadata_histories import History, generate

__all__ = ["gappy", "history", "whole"]

POINTS = 30


def test_no_argument_is_a_column() -> None:
    """The column would be meant, and the argument would filter nothing."""
    columns = {name for schema in SCHEMAS.values() for name in schema.names}
    for macro in macros():
        assert columns.isdisjoint(map(argument, macro.parameters)), macro.name


def test_every_question_has_a_name(whole: Tables, tmp_path: Path) -> None:
    """A view or a macro has the rows of the file of its question."""
    values = {name: value for name, (_, value) in EXAMPLES.items()}
    values |= {"as_of": 500, "from_offset": 100, "to_offset": 400, "batch_offset": 40, "of_topic": "a.2"}
    answered = set()
    with in_duckdb(whole.versions) as asked, with_macros(whole.raw, whole.versions, tmp_path) as named:
        for macro in macros():
            question = "outages_between" if macro.name == "outages" and macro.parameters else macro.name
            if question not in sources():
                continue
            given = {name: values[name] for name in macro.parameters}
            texts = ", ".join(repr(value) for value in given.values())
            found = named.rows(f"FROM {macro.name}{f'({texts})' if given else ''}")
            compare_rows(question, found, asked.rows(question, **given))
            answered |= {question} if found else set()
        assert {macro.name for macro in macros()} >= {f"{kind.name}_valid" for kind in KINDS}
    assert len(answered) > 40


@pytest.mark.parametrize("engine", ["duckdb", "spark", "trino"])
def test_the_places_are_those_of_the_command(whole: Tables, tmp_path: Path, engine: str) -> None:
    text = written(whole.raw, whole.versions, tmp_path, engine, "--audit-log", "/log/it's.log").read_text()
    assert f"{whole.versions}/partitions" in text
    assert f"{whole.raw}/records" in text
    assert "/log/it''s.log'" in text
    assert "/data/metadata" not in text
    assert ("CREATE OR REPLACE MACRO" in text) == (engine == "duckdb")


def test_without_a_history_it_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    flags = ["--tables", str(tmp_path), "--engine", "duckdb", "--to", str(tmp_path / "x.sql")]
    assert main(["macros", *flags]) == 2
    assert f"kraftctl-export history --tables {tmp_path} computes it" in caplog.text
    assert list(tmp_path.iterdir()) == []


def last_offset(times: dict[int, int], known: list[range], time_ms: int) -> int | None:
    """By a loop: the last record that is not later, unless what follows it there is not known."""
    earlier = [offset for part in known for offset in part if times[offset] <= time_ms]
    if not earlier:
        return None
    last = max(earlier)
    end = next(part for part in known if last in part)[-1]
    return None if last == end and times[end] < time_ms else last


@pytest.mark.parametrize("kind", ["whole", "gappy"])
def test_the_offset_at_a_time(
    kind: str, whole: Tables, gappy: Tables, history: History, tmp_path: Path
) -> None:
    tables = {"whole": whole, "gappy": gappy}[kind]
    edges = [history.times[offset] for part in tables.known for offset in (part[0], part[-1])]
    chosen = random.Random(3).sample(sorted(set(history.times.values())), POINTS)
    with with_macros(tables.raw, tables.versions, tmp_path) as asked:
        for time_ms in {time_ms + more for time_ms in (*edges, *chosen) for more in (-1, 0, 1)}:
            found = asked.value(f"offset_at({time_text(time_ms)})")
            assert found == last_offset(history.times, tables.known, time_ms), time_ms


def test_the_offset_where_a_clock_is_behind(tmp_path: Path) -> None:
    made = generate(SEED + 2, 600, snapshots=(), clock=behind)
    export(made, tmp_path / "raw", [made.end])
    HistoryTables(tmp_path / "raw", tmp_path / "versions").rebuild()
    with with_macros(tmp_path / "raw", tmp_path / "versions", tmp_path) as asked:
        for time_ms in random.Random(4).sample(sorted(set(made.times.values())), POINTS):
            found = asked.value(f"offset_at({time_text(time_ms)})")
            assert found == last_offset(made.times, [range(made.end)], time_ms)


def test_the_stretches_of_the_log(gappy: Tables, tmp_path: Path) -> None:
    """Known ones and unknown ones alternate, and nothing of the log is in none."""
    with with_macros(gappy.raw, gappy.versions, tmp_path) as asked:
        rows = asked.rows("FROM log_stretches ORDER BY start_offset")
    assert [range(row["start_offset"], row["end_offset"]) for row in rows if row["known"]] == gappy.known
    assert [row["known"] for row in rows] == [True, False, True, False, True]
    assert {row["reason"] for row in rows} == {None, "deleted before the export"}
    for before, after in pairwise(rows):
        assert before["end_offset"] == after["start_offset"]


@pytest.mark.parametrize("first", [0, 1])
def test_a_stretch_that_is_lost_for_two_reasons_is_one_row(first: int) -> None:
    """Of as many records each, in whatever order the engine reads them."""
    lost = [f"(7, NULL, '{reason}', 2)" for reason in ("unknown version", "unknown type")[:: (1, -1)[first]]]
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE known_ranges AS SELECT 0 AS start_offset, 0 AS start_time, 7 AS end_offset,"
            " 7 AS end_time, false AS from_snapshot"
        )
        connection.execute(
            f"CREATE TABLE not_known AS FROM (VALUES {', '.join(lost)})"
            " AS t(start_offset, history_table, reason, records)"
        )
        _, unknown = connection.execute(text_of("duckdb", "log_stretches")).fetchall()
    assert unknown == (7, 7, None, None, False, False, "unknown type")


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 20))]
)
def test_partitions_are_those_of_the_image(seed: int, tmp_path: Path) -> None:
    """As of 30 offsets of a random log with gaps, snapshots and aborted transactions; null in a gap."""
    made = generate(seed, 300, snapshots=(100, 200))
    assert made.aborted or seed > 1
    first, second = sorted(made.snapshots)
    export(made, tmp_path / "raw", [60, first + 30, made.end], (first, second))
    HistoryTables(tmp_path / "raw", tmp_path / "versions").rebuild()
    points = random.Random(seed).sample(range(made.end), POINTS)
    compared = unknown = 0
    with with_macros(tmp_path / "raw", tmp_path / "versions", tmp_path) as asked:
        known = [
            range(row["start_offset"], row["end_offset"])
            for row in asked.rows("FROM log_stretches WHERE known")
        ]
        for offset, image in images_at(made, points):
            found = asked.rows(f"FROM partitions_at({offset})")
            same = f"FROM partitions_valid WHERE {offset} BETWEEN valid_from_offset AND last_offset"
            compare_rows("partitions_valid", asked.rows(same), [_state(row) for row in found])
            if any(offset in part for part in known):
                compare_rows(f"offset {offset}", found, partitions_of(image))
                compared += len(found)
            else:
                assert found == []
                unknown += 1
    assert compared > 0
    assert unknown > 0


def _state(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "from_snapshot"}


def in_milliseconds(row: Row, name: str) -> int:
    return round(row[name].timestamp() * 1000)


@pytest.mark.parametrize("kind", ["whole", "gappy"])
def test_outages_and_availability_in_a_window(
    kind: str, whole: Tables, gappy: Tables, history: History, tmp_path: Path
) -> None:
    """Sums over the offsets: each state lasts to the next record's time, in the window, where it is known."""
    tables = {"whole": whole, "gappy": gappy}[kind]
    begin_ms, end_ms = history.times[150] - 7, history.times[500] + 13
    window = f"{time_text(begin_ms)}, {time_text(end_ms)}"
    expected: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0])
    known_ms = 0
    steps = {
        offset: (history.times[offset], history.times[offset + 1])
        for part in tables.known
        for offset in part[:-1]
    }
    for offset, image in images_at(history, steps):
        start_ms, until_ms = steps[offset]
        ms = max(min(until_ms, end_ms) - max(start_ms, begin_ms), 0)
        known_ms += ms
        for row in partitions_of(image) if ms else ():
            sums = expected[row["topic_id"], row["partition_id"]]
            sums[0] += ms
            sums[1] += ms if row["leader"] == -1 else 0
    with with_macros(tables.raw, tables.versions, tmp_path) as asked:
        rows = asked.rows(f"FROM availability(NULL, {window})")
        outages = asked.rows(f"FROM outages({window}) WHERE kind = 'leaderless'")
    found = {
        (row["topic_id"], row["partition_id"]): [row["observed_ms"], row["leaderless_ms"]] for row in rows
    }
    assert {key: sums for key, sums in found.items() if sums[0]} == expected
    assert {row["not_known_ms"] for row in rows} == {end_ms - begin_ms - known_ms}
    for row in rows:
        if row["observed_ms"] == 0:
            assert row["available"] is None
        else:
            up = (row["observed_ms"] - row["leaderless_ms"]) / row["observed_ms"]
            assert row["available"] == pytest.approx(up)
    of_outages: dict[tuple[str, int], int] = defaultdict(int)
    for row in outages:
        of_outages[row["topic_id"], row["partition_id"]] += row["in_window_ms"]
    assert {key: ms for key, ms in of_outages.items() if ms} == {
        key: sums[1] for key, sums in expected.items() if sums[1]
    }


def usable(values: dict[str, str]) -> int | None:
    """The minimum of some configurations, if there is one that is a number."""
    value = values.get("min.insync.replicas", "")
    return int(value) if value.isdigit() else None


@pytest.mark.parametrize("kind", ["whole", "gappy"])
def test_minutes_under_the_minimum(
    kind: str, whole: Tables, gappy: Tables, history: History, tmp_path: Path
) -> None:
    tables = {"whole": whole, "gappy": gappy}[kind]
    expected: dict[tuple[str, int, int], int] = defaultdict(int)
    steps = [offset for part in tables.known for offset in part[:-1]]
    for offset, image in images_at(history, steps):
        ms = history.times[offset + 1] - history.times[offset]
        of_cluster = usable(image.configurations.config(4, ""))
        for row in partitions_of(image):
            own = usable(image.configurations.config(2, row["topic"]))
            minimum = own if own is not None else of_cluster if of_cluster is not None else 1
            if len(row["isr"]) < minimum:
                expected[row["topic_id"], row["partition_id"], minimum] += ms
    with with_macros(tables.raw, tables.versions, tmp_path) as asked:
        rows = asked.rows(
            "SELECT topic_id, partition_id, min_insync_replicas, sum(minutes) AS minutes, "
            "bool_and(in_sync < min_insync_replicas) AS low FROM minutes_under_min_isr GROUP BY ALL"
        )
    found = {
        (row["topic_id"], row["partition_id"], row["min_insync_replicas"]): round(row["minutes"] * 60_000)
        for row in rows
    }
    assert {key: ms for key, ms in found.items() if ms} == {key: ms for key, ms in expected.items() if ms}
    assert all(row["low"] for row in rows)
    assert sum(found.values()) > 0


def test_events_with_types(whole: Tables, tmp_path: Path) -> None:
    """Each event once, with what its texts say."""
    with with_macros(whole.raw, whole.versions, tmp_path) as asked:
        rows = asked.rows("FROM typed_events")
        assert len(rows) == asked.value("(SELECT count(*) FROM events)")
    kinds = defaultdict(list)
    for row in rows:
        kinds[row["history_table"]].append(row)
    for row in kinds["partitions"]:
        assert row["resource_type"] == "TOPIC"
        assert row["subject"] == f"{row['resource_name']}-{row['partition_id']}"
        if row["kind"].startswith("ISR") or row["kind"] == "replicas changed":
            assert row["brokers_before"] == json.loads(row["before"])
            assert row["brokers_after"] == json.loads(row["after"])
        if row["kind"] == "leader lost":
            assert (row["leader_before"], row["leader_after"]) == (int(row["before"]), -1)
    for row in kinds["configs"]:
        parts = (row["resource_type"], row["resource_name"], row["config_name"])
        assert " ".join(part for part in parts if part) == row["subject"]
        assert row["config_name"] is not None
    for row in kinds["acls"]:
        assert row["principal"] == row["subject"] == "User:a"
        assert f"on {row['resource_type']} " in (row["after"] or row["before"])
    for row in kinds["scram_credentials"]:
        assert row["principal"] == f"User:{row['resource_name']}"
    assert all(kinds[name] for name in ("partitions", "configs", "acls", "scram_credentials", "brokers"))


def test_the_cause_of_an_election(whole: Tables, tmp_path: Path) -> None:
    """What happened to a broker in the same batch, by a loop over the events; its directories come last."""
    with with_macros(whole.raw, whole.versions, tmp_path) as asked:
        events = asked.rows("FROM events")
        elections = asked.rows("FROM elections")
        rows = asked.rows("FROM election_causes")
    assert len(rows) == len(elections)
    events.sort(key=lambda row: (row["offset"], "dirs" in row["kind"], row["kind"]))
    batch_of = {row["offset"]: row["batch_offset"] for row in events}
    caused = 0
    for row in rows:
        assert row["batch_offset"] == batch_of[row["offset"]]
        near = [
            (event["broker_id"], event["kind"])
            for event in events
            if event["history_table"] == "brokers" and event["batch_offset"] == row["batch_offset"]
        ]
        of_old = [one for one in near if one[0] == row["old_leader"]]
        of_new = [one for one in near if one[0] == row["new_leader"]]
        expected = (of_old or of_new or [(None, None)])[0]
        assert (row["broker_id"], row["broker_event"]) == expected
        caused += expected[1] is not None
    assert caused > 0


@pytest.mark.parametrize("name", [MACROS, WITH_AUDIT_LOG])
def test_trino_has_the_syntax_of_the_views(name: str) -> None:
    """Parsed, not run."""
    found = sqlglot.parse(text_of("trino", name), read="trino", error_level=sqlglot.ErrorLevel.RAISE)
    made = [one for one in found if one is not None]
    assert all(isinstance(one, sqlglot.exp.Create) for one in made)
    assert {one.kind for one in made} == {"TABLE", "VIEW"}
    assert not [one for query in made for one in query.find_all(sqlglot.exp.Anonymous)]
