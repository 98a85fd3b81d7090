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
import pyarrow.parquet as pq
import pytest
import sqlglot

from kraftctl_codegen import dialects
from kraftctl_spark.history.schema import SCHEMAS, encode_versions
from kraftctl_spark.history.versions.kinds import BROKERS, KINDS, PARTITIONS, TOPICS, Kind
from kraftctl_spark.history.versions.versions import Version
from tests.spark.history.asked import Row, in_duckdb
from tests.spark.history.test_versions import Tables, gappy, history, whole
from tests.spark.history_truth import HistoryTruth
from tests.spark.metadata_histories import History

__all__ = ["gappy", "history", "whole"]

DOCUMENT = (Path(__file__).parents[3] / "spark" / "HISTORY.md").read_text()
PAIRS = 12


@pytest.fixture(scope="module")
def truth(history: History) -> dict[str, list[Row]]:
    return HistoryTruth(history.events(), history.times[history.end - 1]).rows


def ms(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def in_ms(rows: list[Row]) -> list[Row]:
    return [
        {name: ms(value) if isinstance(value, datetime) else value for name, value in row.items()}
        for row in rows
    ]


def same(found: list[Row], expected: list[Row], *names: str) -> None:
    """Row by row, in these columns, in any order."""
    pick = [sorted(str([row[name] for name in names]) for row in rows) for rows in (in_ms(found), expected)]
    assert pick[0] == pick[1]
    assert found


def test_the_files_are_what_the_source_gives() -> None:
    """Run `python -m kraftctl_codegen.dialects` after a change."""
    expected = dict(dialects.files())
    found = {
        str(path.relative_to(dialects.DIRECTORY)): path.read_text()
        for path in dialects.DIRECTORY.glob("*/*.sql")
        if path.parent.name != dialects.SOURCE
    }
    assert found == expected


def test_every_question_is_documented_with_its_parameters() -> None:
    for name, source in dialects.questions().items():
        if re.fullmatch(rf"(?:{'|'.join(kind.name for kind in KINDS)})_(?:at|diff)", name):
            continue
        row = re.search(rf"^\| `{name}` \|(.*)\|(.*)\|$", DOCUMENT, re.MULTILINE)
        assert row is not None, name
        assert set(re.findall(r"`(\w+)`", row[1])) == set(dialects.PARAMETER.findall(source)), name


@pytest.mark.parametrize("question", dialects.questions())
def test_every_question_has_an_answer_where_the_log_has_gaps(gappy: Tables, question: str) -> None:
    with in_duckdb(gappy.versions) as asked:
        values = {name: value for name, (_, value) in dialects.EXAMPLES.items()}
        assert asked.ask(question, **values).num_columns > 1


def test_churn(whole: Tables, truth: dict[str, list[Row]]) -> None:
    with in_duckdb(whole.versions) as asked:
        names = ("hour", "topic_id", "partition_id", "shrinks", "expansions")
        same(asked.rows("isr_churn_per_hour"), truth["isr_churn_per_hour"], *names)
        changes = asked.rows("isr_changes")
        expected = [row for row in truth["isr_changes"] if row["removed"] or row["added"]]
        for row in expected:
            row["text"] = [str(row["old_isr"]), str(row["new_isr"])]
        same(
            [{**row, "text": [row["old_isr"], row["new_isr"]]} for row in changes],
            expected,
            "offset",
            "topic_id",
            "text",
        )


def test_elections(whole: Tables, truth: dict[str, list[Row]]) -> None:
    with in_duckdb(whole.versions) as asked:
        names = ("offset", "time", "topic_id", "partition_id", "old_leader", "new_leader")
        expected = [{**row, "unclean": row["kind"] == "unclean"} for row in truth["elections"]]
        same(asked.rows("elections"), expected, *names, "unclean")
        per_broker = {row["broker_id"]: row for row in truth["elections_per_broker"]}
        for row in asked.rows("elections_per_broker"):
            columns = ("elected", "unclean", "lost")
            assert [row[name] for name in columns] == [per_broker[row["broker_id"]][name] for name in columns]


def test_fencing(whole: Tables, truth: dict[str, list[Row]]) -> None:
    with in_duckdb(whole.versions) as asked:
        names = ("broker_id", "broker_epoch", "state", "start_offset", "start_time", "end_offset", "end_time")
        same(asked.rows("fencing_timeline"), truth["fencing_timeline"], *names)


def test_outages(whole: Tables, truth: dict[str, list[Row]]) -> None:
    with in_duckdb(whole.versions) as asked:
        names = ("kind", "topic_id", "partition_id", "start_offset", "start_time", "end_offset", "end_time")
        same(asked.rows("outages"), truth["outages"], *names)


def test_reassignments(whole: Tables, truth: dict[str, list[Row]]) -> None:
    with in_duckdb(whole.versions) as asked:
        names = ("topic_id", "topic", "partition_id", "start_offset", "start_time", "end_offset", "end_time")
        found = asked.rows("reassignments")
        same(found, truth["reassignments"], *names, "outcome", "old_replicas", "new_replicas")


@pytest.mark.parametrize("question", dialects.OF_BROKERS)
def test_what_registrations_say(whole: Tables, gappy: Tables, question: str) -> None:
    """At every offset, the row that it lies in has what the versions have; rows that touch differ."""
    _, *columns = dialects.OF_BROKERS[question]
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


@pytest.mark.parametrize("name", [dialects.TABLES, *dialects.questions()])
def test_trino_has_this_syntax(name: str) -> None:
    """Parsed, not run: each file is one query, or the definitions of the tables."""
    text = (dialects.DIRECTORY / dialects.TRINO.name / f"{name}.sql").read_text()
    found = sqlglot.parse(text, read="trino", error_level=sqlglot.ErrorLevel.RAISE)
    kind = sqlglot.exp.Create if name == dialects.TABLES else sqlglot.exp.Query
    assert all(isinstance(one, kind) for one in found)
    assert len(found) == (len(SCHEMAS) if name == dialects.TABLES else 1)
    others = [one.name for query in found for one in query.find_all(sqlglot.exp.Anonymous)]
    assert others == []


def test_trino_compares_times_without_a_zone() -> None:
    """Its tables have none: a literal with one would be compared in the zone of the session."""
    text = (dialects.DIRECTORY / dialects.TRINO.name / "incident.sql").read_text()
    assert "TIMESTAMP '2026-11-21 12:00:00' AS from_time" in text


def one_version(kind: Kind, key: tuple[int | str, ...], ended_by: str | None, **values: object) -> Version:
    """Of two versions with equal values: the first one ends at offset 7, where the second one begins."""
    all_values = tuple(values.get(name) for name in kind.values)
    if ended_by is None:
        return Version(key, all_values, 7, 7000, True, None)
    return Version(key, all_values, 3, 3000, False, 3, 7, 6000, ended_by)


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
    tables = {name: schema.empty_table() for name, schema in SCHEMAS.items()}
    tables |= {kind.name: encode_versions(kind, versions, "cluster") for kind, versions in found.items()}
    for name, rows in tables.items():
        (tmp_path / name).mkdir()
        pq.write_table(rows, tmp_path / name / "0.parquet")
    with in_duckdb(tmp_path) as asked:
        outages, fencings = asked.rows("outages"), asked.rows("fencing_timeline")
    for rows in (
        [row for row in outages if row["kind"] == "leaderless"],
        [row for row in outages if row["kind"] == "under-replicated"],
        fencings,
    ):
        assert sorted((row["start_offset"], row["end_offset"]) for row in rows) == intervals


def test_configurations(whole: Tables, truth: dict[str, list[Row]]) -> None:
    expected = [row for row in truth["config_audit"] if row["old_value"] != row["new_value"]]
    with in_duckdb(whole.versions) as asked:
        same(asked.rows("config_audit"), expected, "offset", "time", "old_value", "new_value")


def test_growth(whole: Tables, truth: dict[str, list[Row]]) -> None:
    names = [f"{what}_{how}" for what in ("topics", "partitions") for how in ("created", "deleted")]
    expected = [row for row in truth["growth_per_hour"] if any(row[name] for name in row if "_" in name)]
    with in_duckdb(whole.versions) as asked:
        same(
            asked.rows("growth_per_hour"),
            expected,
            "hour",
            *names,
            "brokers_registered",
            "brokers_unregistered",
        )


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


@pytest.mark.parametrize("question", ["growth_per_hour", "isr_churn_per_hour", "leaders_per_broker"])
def test_hours_are_those_of_utc(whole: Tables, question: str) -> None:
    """Also where the session's hours begin in the middle of them."""
    with in_duckdb(whole.versions) as asked:
        expected = in_ms(asked.rows(question))
    with in_duckdb(whole.versions, "Asia/Kolkata") as asked:
        same(asked.rows(question), expected, *expected[0])


def test_what_one_batch_changed(whole: Tables) -> None:
    with in_duckdb(whole.versions) as asked:
        everything = asked.rows("happened", from_offset=-1, to_offset=10_000)
        batches = {row["batch_offset"] for row in everything}
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
