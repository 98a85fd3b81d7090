"""The questions in plain SQL, in DuckDB: against a plain loop over the records, and states at two points."""

from __future__ import annotations

import random
import re
import shutil
from datetime import UTC, datetime
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot

from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.questions import dialects
from kraftctl_spark.history.questions.files import text_of
from kraftctl_spark.history.questions.questions import OF_BROKERS, parameters_of, sources
from kraftctl_spark.history.schema import EVENTS, SCHEMAS, encode_versions
from kraftctl_spark.history.versions.kinds import BROKERS, KINDS, PARTITIONS, TOPICS, Kind
from kraftctl_spark.history.versions.versions import Version
from tests.spark.compared_rows import compare_rows
from tests.spark.history.asked import Row, in_duckdb
from tests.spark.history.test_versions import SEED, Tables, export, gappy, history, whole
from tests.spark.history_truth import ANSWERED, HistoryTruth, outage_rows
from tests.spark.metadata_histories import History, generate, time_of

__all__ = ["gappy", "history", "whole"]

DOCUMENT = (Path(__file__).parents[3] / "spark" / "HISTORY.md").read_text()
PAIRS = 12


@pytest.fixture(scope="module")
def truth(history: History) -> dict[str, list[Row]]:
    return HistoryTruth(history.events(), history.times[history.end - 1]).rows


def behind(offset: int) -> int:
    """A second leader, whose clock is two hours behind, and a third one, which is right again."""
    return time_of(offset) - (7_200_000 if 300 <= offset < 450 else 0)


def test_every_question_is_documented_with_its_parameters() -> None:
    for name in sources():
        if re.fullmatch(rf"(?:{'|'.join(kind.name for kind in KINDS)})_(?:at|diff)", name):
            continue
        row = re.search(rf"^\| `{name}` \|(.*)\|(.*)\|$", DOCUMENT, re.MULTILINE)
        assert row is not None, name
        assert set(re.findall(r"`(\w+)`", row[1])) == set(parameters_of(name)), name


def test_a_state_has_each_partition_once(whole: Tables) -> None:
    """Also at the offset at which a version ends and another one begins."""
    with in_duckdb(whole.versions) as asked:
        changes = [row["offset"] for row in asked.rows("happened", from_offset=200, to_offset=400)]
        for as_of in random.Random(7).sample(sorted(set(changes)), PAIRS):
            rows = asked.rows("partitions_at", as_of=as_of)
            keys = {(row["topic_id"], row["partition_id"]) for row in rows}
            assert len(keys) == len(rows) > 0


def test_the_history_has_what_is_hard(history: History, truth: dict[str, list[Row]]) -> None:
    assert len(history.aborted) > 20
    assert len(history.snapshots) == 2
    lives = [row["topic"] for row in truth["topic_history"]]
    assert len(set(lives)) < len(lives)
    assert {row["kind"] for row in truth["elections"]} == {"clean", "elr", "unclean"}
    assert {row["outcome"] for row in truth["reassignments"]} >= {"completed", "cancelled", "running"}
    assert all(len(truth[name]) > (0 if name == "quorum_changes" else 3) for name in ANSWERED)


@pytest.mark.parametrize("question", ANSWERED)
def test_an_answer_is_that_of_a_plain_loop(whole: Tables, truth: dict[str, list[Row]], question: str) -> None:
    with in_duckdb(whole.versions) as asked:
        compare_rows(question, asked.rows(question), truth[question])


def test_answers_where_a_clock_is_behind(tmp_path: Path) -> None:
    """No duration is negative, and the order is that of the log."""
    made = generate(SEED + 2, 600, snapshots=(), clock=behind)
    export(made, tmp_path / "raw", [made.end])
    HistoryTables(tmp_path / "raw", tmp_path / "versions").rebuild()
    expected = HistoryTruth(made.events(), made.times[made.end - 1]).rows
    with in_duckdb(tmp_path / "versions") as asked:
        for question in ANSWERED:
            compare_rows(question, asked.rows(question), expected[question])


def test_gaps_are_not_filled(gappy: Tables, history: History, truth: dict[str, list[Row]]) -> None:
    """The answers from the whole log, cut to the known ranges."""
    expected = {
        name: clipped(history, gappy, truth[name]) for name in ("partition_history", "fencing_timeline")
    }
    expected |= outage_rows(expected["partition_history"])
    with in_duckdb(gappy.versions) as asked:
        for name, rows in expected.items():
            compare_rows(name, asked.rows(name), rows)
        inexact = [row for row in asked.rows("config_audit") if not row["exact"]]
        changed: list[Row] = []
        lost: set[str] = set()
        for before, after in pairwise(gappy.known):
            configs, topics = (
                [asked.rows(f"{kind}_at", as_of=offset) for offset in (before[-1], after[0])]
                for kind in ("configs", "topics")
            )
            changed += config_changes(configs[0], configs[1], after[0])
            kept = {row["topic_id"] for row in topics[1]}
            lost |= {row["topic_id"] for row in topics[0]} - kept
        ended = {row["topic_id"] for row in asked.rows("topic_history") if row["ended_by"] == "gap"}
    compare_rows("config_audit", inexact, changed)
    assert changed
    assert ended == lost != set()


def clipped(history: History, gappy: Tables, rows: list[Row]) -> list[Row]:
    """Intervals of the whole log, cut to the known ranges."""
    found: list[Row] = []
    for index, part in enumerate(gappy.known):
        last = index == len(gappy.known) - 1
        for row in rows:
            end = history.end if row["end_offset"] is None else row["end_offset"]
            if row["start_offset"] >= part.stop or end <= part.start:
                continue
            cut = dict(row)
            if index > 0 and row["start_offset"] <= part.start:
                cut |= {"start_offset": part.start, "start_time": history.times[part.start]}
                cut |= {"from_snapshot": True} if "from_snapshot" in row else {"started_by": "snapshot"}
            if end >= part.stop:
                cut |= {"end_offset": None if last else part.stop, "end_time": history.times[part.stop - 1]}
                cut["ended_by"] = None if last else "gap"
            cut["duration_ms"] = cut["end_time"] - cut["start_time"]
            found.append(cut)
    return found


def config_changes(before: list[Row], after: list[Row], offset: int) -> list[Row]:
    """Configurations that differ between two states, by topic id."""
    names = ("resource_type", "resource_name", "topic_id", "name")
    old, new = (
        {tuple(row[name] for name in names): row["value"] for row in rows} for rows in (before, after)
    )
    return [
        dict(zip(names, key, strict=True))
        | {"offset": offset, "old_value": old.get(key), "new_value": new.get(key), "cause": "gap"}
        for key in old.keys() | new.keys()
        if old.get(key) != new.get(key)
    ]


@pytest.mark.parametrize("question", OF_BROKERS)
def test_what_registrations_say(whole: Tables, gappy: Tables, question: str) -> None:
    """At every offset, the row that it lies in has what the versions have; rows that touch differ."""
    columns = OF_BROKERS[question]
    for tables in (whole, gappy):
        with in_duckdb(tables.versions) as asked:
            rows = asked.rows(question)
            for as_of in random.Random(5).sample([offset for part in tables.known for offset in part], PAIRS):
                expected = {
                    row["broker_id"]: [row[name] for name in columns]
                    for row in asked.rows("brokers_at", as_of=as_of)
                }
                found = [
                    row
                    for row in rows
                    if row["start_offset"] <= as_of
                    and (row["end_offset"] is None or as_of < row["end_offset"])
                ]
                assert {row["broker_id"]: [row[name] for name in columns] for row in found} == expected
                assert len(found) == len(expected)
        gaps = {part.stop for part in tables.known}
        for before, after in pairwise(rows):
            if before["broker_id"] == after["broker_id"] and before["end_offset"] == after["start_offset"]:
                same_values = [before[name] for name in columns] == [after[name] for name in columns]
                assert not same_values or before["end_offset"] in gaps


@pytest.mark.parametrize("name", [dialects.TABLES, *sources()])
def test_trino_has_this_syntax(name: str) -> None:
    """Parsed, not run: each file is one query, or the definitions of the tables."""
    text = text_of("trino", name)
    found = sqlglot.parse(text, read="trino", error_level=sqlglot.ErrorLevel.RAISE)
    kind = sqlglot.exp.Create if name == dialects.TABLES else sqlglot.exp.Query
    assert all(isinstance(one, kind) for one in found)
    assert len(found) == (len(SCHEMAS) if name == dialects.TABLES else 1)
    others = [one.name for query in found for one in query.find_all(sqlglot.exp.Anonymous)]
    assert others == []


def test_trino_compares_times_without_a_zone() -> None:
    """Its tables have none: a literal with one would be compared in the zone of the session."""
    text = text_of("trino", "incident")
    assert "TIMESTAMP '2026-11-21 12:00:00' AS from_time" in text


def one_version(kind: Kind, key: tuple[int | str, ...], ended_by: str | None, **values: object) -> Version:
    """Of two versions with equal values: the first one ends at offset 7, where the second one begins."""
    all_values = tuple(values.get(name) for name in kind.values)
    if ended_by is None:
        return Version(key, all_values, 7, 7000, True, None)
    return Version(key, all_values, 3, 3000, False, 3, 7, 6000, ended_by)


def write_history(directory: Path, found: dict[str, pa.Table]) -> None:
    """These tables, and all others without rows."""
    for name, schema in SCHEMAS.items():
        (directory / name).mkdir()
        pq.write_table(found.get(name, schema.empty_table()), directory / name / "0.parquet")


def test_an_hour_ends_with_its_last_millisecond(tmp_path: Path) -> None:
    change = {"offset": 4, "kind": "ISR shrank", "subject": "t-0", "partition_id": 0}
    changes = [
        change | {"time": time_ms * 1000, "before": "[1, 2]", "after": "[1]"}
        for time_ms in (3_600_000, 7_199_999, 7_200_000)
    ]
    write_history(tmp_path, {EVENTS: pa.Table.from_pylist(changes, SCHEMAS[EVENTS])})
    with in_duckdb(tmp_path) as asked:
        rows = asked.rows("isr_churn_per_hour")
    assert {row["hour"].timestamp(): row["shrinks"] for row in rows} == {3600: 2, 7200: 1}


@pytest.mark.parametrize(("ended_by", "intervals"), [("changed", [(3, None)]), ("gap", [(3, 7), (7, None)])])
def test_a_gap_of_one_offset_ends_what_is_so(
    tmp_path: Path, ended_by: str, intervals: list[tuple[int, int | None]]
) -> None:
    """The snapshot after it contains one offset more than was known: it begins where the versions end."""
    leaderless = {"leader": -1, "replicas": [1, 2], "isr": [1], "adding_replicas": []}
    found = {
        TOPICS: [one_version(TOPICS, ("t",), None, topic="topic")],
        PARTITIONS: [one_version(PARTITIONS, ("t", 0), end, **leaderless) for end in (ended_by, None)],
        BROKERS: [
            one_version(BROKERS, (1,), end, broker_epoch=2, state="fenced") for end in (ended_by, None)
        ],
    }
    encoded = {kind.name: encode_versions(kind, rows, "cluster") for kind, rows in found.items()}
    write_history(tmp_path, encoded)
    with in_duckdb(tmp_path) as asked:
        outages, fencings = asked.rows("outages"), asked.rows("fencing_timeline")
    for rows in (
        [row for row in outages if row["kind"] == "leaderless"],
        [row for row in outages if row["kind"] == "under-replicated"],
        fencings,
    ):
        assert sorted((row["start_offset"], row["end_offset"]) for row in rows) == intervals


def test_leaders_of_each_broker(whole: Tables, history: History) -> None:
    last: dict[int, int] = {}
    with in_duckdb(whole.versions) as asked:
        for row in asked.rows("leaders_per_broker"):
            last[row["broker_id"]] = row["leaders"]
        now: dict[int, int] = {}
        for row in asked.rows("partitions_at", as_of=history.end - 1):
            now[row["leader"]] = now.get(row["leader"], 0) + 1
    now.pop(-1, None)
    assert {broker: count for broker, count in last.items() if count} == now


@pytest.mark.parametrize(
    "question", ["growth_per_hour", "isr_churn_per_hour", "availability_per_hour", "leaders_per_broker"]
)
def test_hours_are_those_of_utc(whole: Tables, question: str) -> None:
    """Also where the session's hours begin in the middle of them."""
    with in_duckdb(whole.versions) as asked:
        expected = asked.rows(question)
    with in_duckdb(whole.versions, "Asia/Kolkata") as asked:
        compare_rows(question, asked.rows(question), expected)


def test_what_one_batch_changed(whole: Tables) -> None:
    with in_duckdb(whole.versions) as asked:
        everything = asked.rows("happened", from_offset=-1, to_offset=10_000)
        batches = {row["batch_offset"] for row in everything if row["kind"] != "not known"}
        for batch in random.Random(1).sample(sorted(batches), 5):
            expected = [row["offset"] for row in everything if row["batch_offset"] == batch]
            assert [row["offset"] for row in asked.rows("request", batch_offset=batch)] == expected


def test_a_window_of_time(whole: Tables) -> None:
    """In UTC, whatever the zone of the session is."""
    with in_duckdb(whole.versions) as asked:
        everything = asked.rows("happened", from_offset=-1, to_offset=10_000)
        first, last = everything[40]["time"], everything[80]["time"]
        found = asked.rows("incident", from_time=first.isoformat(" "), until_time=last.isoformat(" "))
        shown = {row["offset"] for row in found}
        assert shown
        assert shown <= {row["offset"] for row in everything if first <= row["time"] < last}
        fenced = {
            row["offset"]
            for row in everything
            if row["kind"] == "broker fenced" and first <= row["time"] < last
        }
        assert fenced <= shown


def test_the_documented_state_as_of_a_time(gappy: Tables, history: History) -> None:
    (recipe,) = re.findall(r"```sql\n(SET VARIABLE as_of_time = .*?)```", DOCUMENT, re.DOTALL)
    setting, query = (
        recipe.replace("'history/", f"'{gappy.versions}/")
        .replace("'records/", f"'{gappy.raw}/records/")
        .split(";\n", 1)
    )
    known = [offset for part in gappy.known for offset in part]
    times = {offset: history.times[offset] for offset in known}
    first, second, last = gappy.known
    unknown = [
        times[first[-1]] + 1,
        times[second.start] - 1,
        times[second[-1]] + 1,
        times[last.start] - 1,
        times[last[-1]] + 1,
    ]
    edges = [times[offset] for part in gappy.known for offset in (part[-20], part[-1])]
    edges += [times[second.start], times[last.start]]
    with in_duckdb(gappy.versions) as asked, duckdb.connect() as connection:

        def at_time(time_ms: int) -> list[str]:
            time = datetime.fromtimestamp(time_ms / 1000, UTC)
            connection.execute(re.sub("'.*'", f"'{time.isoformat(' ')}'", setting))
            found = connection.sql(query).to_arrow_table().to_pylist()
            return sorted(
                str((row["topic_id"], row["partition_id"], row["partition_epoch"])) for row in found
            )

        for time_ms in edges:
            as_of = max(offset for offset in known if times[offset] <= time_ms)
            rows = asked.rows("partitions_at", as_of=as_of)
            assert at_time(time_ms) == sorted(
                str((row["topic_id"], row["partition_id"], row["partition_epoch"])) for row in rows
            )
            assert rows
        for time_ms in unknown:
            assert at_time(time_ms) == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_differences_are_those_of_two_states(whole: Tables, history: History, kind: Any) -> None:
    rng = random.Random(kind.name)
    with in_duckdb(whole.versions) as asked:

        def state(offset: int) -> dict[str, Row]:
            rows = asked.rows(f"{kind.name}_at", as_of=offset)
            return {str([row[name] for name in kind.key]): row for row in rows}

        for _ in range(PAIRS):
            first, last = sorted(rng.sample(range(history.end), 2))
            before, after = state(first), state(last)
            expected: dict[str, str] = {}
            for key in before.keys() | after.keys():
                old, new = before.get(key), after.get(key)
                if old is None or new is None:
                    expected[key] = "added" if old is None else "removed"
                elif [old[name] for name in kind.values] != [new[name] for name in kind.values]:
                    expected[key] = "changed"
            rows = asked.rows(f"{kind.name}_diff", from_offset=first, to_offset=last)
            found = {str([row[name] for name in kind.key]): row for row in rows}
            assert {key: row["change"] for key, row in found.items()} == expected
            for key, row in found.items():
                for suffix, side in (("before", before), ("after", after)):
                    values = [row[f"{name}_{suffix}"] for name in kind.values]
                    assert values == [side.get(key, {}).get(name) for name in kind.values]


def test_nothing_is_found_where_the_state_is_not_known(gappy: Tables) -> None:
    first, second, last = gappy.known
    unknown = [-1, first.stop, second.start - 1, second.stop, last.start - 1, last.stop]
    known = [first.start, first.stop - 1, second.start, second.stop - 1, last.start, last.stop - 1]
    found = 0
    with in_duckdb(gappy.versions) as asked:
        for point in unknown:
            assert asked.rows("under_min_isr", as_of=point) == []
            for kind in KINDS:
                assert asked.rows(f"{kind.name}_at", as_of=point) == []
        for pair in combinations(sorted(known + unknown), 2):
            rows = asked.rows("partitions_diff", from_offset=pair[0], to_offset=pair[1])
            assert set(pair) <= set(known) or rows == [], pair
            found += len(rows)
    assert found


def test_fewer_replicas_in_sync_than_producers_ask_for(whole: Tables, history: History) -> None:
    with in_duckdb(whole.versions) as asked:
        for as_of in random.Random(3).sample(range(100, history.end), PAIRS):
            configs = asked.rows("configs_at", as_of=as_of)
            minimum = {
                (row["resource_type"], row["topic_id"] or row["resource_name"]): int(row["value"])
                for row in configs
                if row["name"] == "min.insync.replicas"
            }
            expected = [
                (row["topic_id"], row["partition_id"])
                for row in asked.rows("partitions_at", as_of=as_of)
                if len(row["isr"]) < minimum.get(("TOPIC", row["topic_id"]), minimum.get(("BROKER", ""), 1))
            ]
            found = asked.rows("under_min_isr", as_of=as_of)
            assert sorted((row["topic_id"], row["partition_id"]) for row in found) == sorted(expected)


def test_directories_above_a_history_are_not_columns(whole: Tables, tmp_path: Path) -> None:
    """DuckDB takes `topic=zz` in a path for a column, in place of the file's own."""
    place = tmp_path / "env=prod" / "topic=zz"
    shutil.copytree(whole.versions, place)
    as_of = whole.known[-1][-1]
    with in_duckdb(place) as asked, in_duckdb(whole.versions) as expected:
        found = asked.rows("partitions_at", as_of=as_of)
        assert found == expected.rows("partitions_at", as_of=as_of)
    assert found
