"""The report's answers on generated logs: against a plain loop over the records, and against each other."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.report.contents import Contents, Size
from kraftctl_spark.report.period import Period
from kraftctl_spark.report.queries import availability, config_changes, fencing
from kraftctl_spark.report.queries.availability import Edge, summed
from kraftctl_spark.report.queries.fetch import fetch
from kraftctl_spark.report.queries.timeline import ROWS
from tests.spark.history.test_versions import Tables, gappy, history, whole
from tests.spark.history_truth import HistoryTruth
from tests.spark.metadata_histories import History

__all__ = ["gappy", "history", "whole"]

Row = dict[str, Any]


@pytest.fixture(scope="module")
def truth(history: History) -> dict[str, list[Row]]:
    return HistoryTruth(history.events(), history.times[history.end - 1]).rows


@pytest.fixture(scope="module")
def found(whole: Tables) -> Iterator[Contents]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(availability, "PARTITIONS_MAX", 1_000)
        patch.setattr(config_changes, "CONFIG_CHANGES_MAX", 100_000)
        patch.setattr(fencing, "BROKERS_MAX", 1_000)
        yield fetch(whole.raw, whole.versions, None, None)


def test_elections_are_of_the_same_kinds_and_causes(found: Contents, truth: dict[str, list[Row]]) -> None:
    counted: Counter[tuple[int, str, str]] = Counter()
    for row in truth["elections"]:
        counted[row["time"] - row["time"] % found.period.bucket_ms, row["kind"], row["cause"]] += 1
    assert {(one.bucket_ms, one.kind, one.cause): one.elections for one in found.elections} == counted
    by_broker = Counter(f"broker {row['new_leader']}" for row in truth["elections"])
    summed_up: Counter[str] = Counter()
    for one in found.broker_elections:
        summed_up[one.broker] += one.elections
    assert summed_up == by_broker
    unclean = [row["offset"] for row in truth["elections"] if row["kind"] == "unclean"]
    assert [one.offset for one in found.unclean_elections.rows] == sorted(unclean, reverse=True)


def test_churn_is_counted_once(found: Contents, truth: dict[str, list[Row]]) -> None:
    changes = [row for row in truth["isr_changes"] if row["removed"] or row["added"]]
    assert sum(row.shrinks for row in found.churn) == sum(bool(row["removed"]) for row in changes)
    assert sum(row.expansions for row in found.churn) == sum(bool(row["added"]) for row in changes)
    partitions = {(row["topic_id"], row["partition_id"]) for row in changes}
    topics = {row["topic_id"] for row in changes}
    expected = (len(topics), "topics") if len(partitions) > 30 else (len(partitions), "partitions")
    assert found.churned == expected


def test_durations_of_outages(found: Contents, truth: dict[str, list[Row]]) -> None:
    expected = {
        (row["leaderless_ms"], row["under_replicated_ms"])
        for row in truth["partition_availability"]
        if row["leaderless_ms"] + row["under_replicated_ms"]
    }
    rows = found.availability.rows
    assert {(row.leaderless_ms, row.under_replicated_ms) for row in rows} == expected
    assert found.availability.total == len(rows)
    for kind in ("leaderless_ms", "under_replicated_ms"):
        over_time = sum(getattr(row, kind) for row in found.availability_over_time)
        assert over_time == sum(row[kind] for row in truth["partition_availability"]), kind


def test_states_of_brokers(found: Contents, truth: dict[str, list[Row]]) -> None:
    names = ("broker_id", "state", "started_by", "ended_by")

    def interval(row: Row, start: str, end: str) -> tuple[Any, ...]:
        return (*(row[name] for name in names), row[start], row[end])

    expected = sorted(
        interval(row | {"ended_by": row["ended_by"] or "end"}, "start_time", "end_time")
        for row in truth["fencing_timeline"]
    )
    end_ms = found.period.end_ms - 1  # What is still so ends with the last record.
    fenced_or_stopped = [
        vars(row) | {"state": row.state.replace("stopped", "fenced")} for row in found.fencing.rows
    ]
    assert sorted(interval(row, "start_ms", "end_ms") for row in fenced_or_stopped) == expected
    assert max(row.end_ms for row in found.fencing.rows) == end_ms
    fenced = Counter[int]()
    for row in truth["fencing_timeline"]:
        fenced[row["broker_id"]] += row["duration_ms"] if row["state"] == "fenced" else 0
    assert {row.broker_id: row.fenced_ms + row.stopped_ms for row in found.fenced_brokers.rows} == fenced
    assert found.fenced_times == sum(row.fenced for row in found.fenced_brokers.rows)


def test_configurations_with_both_values(found: Contents, truth: dict[str, list[Row]]) -> None:
    """A record that changes nothing is no change; nor is the removal of what was not set."""
    expected = [
        (row["offset"], row["name"], row["old_value"], row["new_value"], row["cause"])
        for row in truth["config_audit"]
        if row["old_value"] != row["new_value"]
    ]
    rows = found.config_changes.rows
    assert sorted((row.offset, row.name, row.old_value, row.new_value, row.cause) for row in rows) == sorted(
        expected, key=lambda one: (one[0], one[1])
    )
    assert {one.kind: one.count for one in found.config_causes} == Counter(row.cause for row in rows)


def test_reassignments(found: Contents, truth: dict[str, list[Row]]) -> None:
    def shown(row: Row) -> tuple[Any, ...]:
        took = found.period.end_ms - row["start_time"] if row["outcome"] == "running" else row["duration_ms"]
        ids = [", ".join(map(str, row[name])) for name in ("old_replicas", "new_replicas")]
        return (row["start_time"], took, row["outcome"], *ids)

    rows = found.reassignments.rows
    assert sorted(
        (row.start_ms, row.duration_ms, row.outcome, row.old_replicas, row.new_replicas) for row in rows
    ) == sorted(map(shown, truth["reassignments"]))
    assert {one.kind: one.count for one in found.reassignment_outcomes} == Counter(r.outcome for r in rows)


def test_sizes_at_the_end(found: Contents, truth: dict[str, list[Row]]) -> None:
    last = truth["growth_per_hour"][-1]
    assert found.growth[-1] == Size(
        found.growth[-1].bucket_ms, last["topics"], last["partitions"], last["brokers"]
    )
    assert (found.header.topics, found.header.brokers) == (last["topics"], last["brokers"])


@pytest.mark.parametrize("tables", ["whole", "gappy"])
def test_windows_add_up_to_the_whole(tables: str, request: pytest.FixtureRequest) -> None:
    """What is counted in windows, one after the other, is counted once in all of them."""
    where: Tables = request.getfixturevalue(tables)
    everything = fetch(where.raw, where.versions, None, None)
    rng = random.Random(3)
    start_ms, end_ms = everything.period.start_ms, everything.period.end_ms
    cuts = [start_ms, *sorted(rng.randrange(start_ms + 1, end_ms) for _ in range(4)), end_ms]
    windows = [fetch(where.raw, where.versions, *pair) for pair in itertools.pairwise(cuts)]

    def same(of: Callable[[Contents], int]) -> None:
        assert sum(map(of, windows)) == of(everything)

    same(lambda one: sum(row.elections for row in one.elections))
    same(lambda one: sum(row.shrinks + row.expansions for row in one.churn))
    same(lambda one: sum(row.leaderless_ms for row in one.availability_over_time))
    same(lambda one: sum(row.under_replicated_ms for row in one.availability_over_time))
    same(lambda one: sum(row.records for row in one.record_types))
    same(lambda one: one.config_changes.total)
    same(lambda one: one.fenced_times)
    same(lambda one: one.shutdowns)
    same(lambda one: sum(mark.events for mark in one.timeline))
    same(lambda one: one.acls.changes.total)
    same(lambda one: one.quotas.changes.total)
    same(lambda one: one.scram.changes.total)
    same(lambda one: one.features.changes.total)


def test_the_timeline_has_every_event_once(whole: Tables, found: Contents) -> None:
    events = read_versions(whole.versions, "events").to_pylist()
    shrinks = [row for row in events if row["kind"] in ("ISR shrank", "ISR shrank and grew")]
    configs = [row for row in events if row["history_table"] == "configs"]
    counted: Counter[str] = Counter()
    for mark in found.timeline:
        counted[mark.row] += mark.events
        assert found.period.start_ms <= mark.start_ms < found.period.end_ms
        assert 1 <= len(mark.texts) <= mark.events
    assert counted["ISR shrinks"] == len(shrinks)
    assert counted["configurations"] == len(configs)
    assert list(dict.fromkeys(mark.row for mark in found.timeline)) == [row for row in ROWS if counted[row]]


def test_a_gap_is_a_gap_everywhere(gappy: Tables, history: History) -> None:
    contents = fetch(gappy.raw, gappy.versions, None, None)
    first, second, _ = gappy.known
    assert [(gap.first_offset, gap.last_offset) for gap in contents.gaps] == [
        (first.stop, second.start),
        (second.stop, gappy.known[2].start),
    ]
    assert contents.gaps[0].start_ms == history.times[first[-1]]
    unknown = [size for size in contents.growth if size.topics is None]
    width_ms = contents.period.bucket_ms
    for gap in contents.gaps:
        within = [size for size in unknown if gap.start_ms < size.bucket_ms + width_ms <= gap.end_ms]
        assert len(within) == (gap.end_ms // width_ms) - (gap.start_ms // width_ms)
    changed = [row for row in contents.config_changes.rows if row.cause == "gap"]
    assert changed
    assert all(not row.exact and row.old_value != row.new_value for row in changed)
    assert {row.ended_by for row in contents.fencing.rows} >= {"gap", "end"}


def test_what_is_in_effect_at_the_end_of_a_window(gappy: Tables, history: History) -> None:
    at = next(known for known in gappy.known[1:] if len(known) > 20)[20]
    contents = fetch(gappy.raw, gappy.versions, None, history.times[at] + 1)
    last = max(offset for offset, time_ms in history.times.items() if time_ms <= history.times[at])

    def valid(table: str) -> int:
        rows = read_versions(gappy.versions, table).to_pylist()
        return sum(
            row["valid_from_offset"] <= last
            and (row["valid_to_offset"] is None or row["valid_to_offset"] > last)
            for row in rows
        )

    assert contents.acls.at_end is not None
    assert contents.acls.at_end.total == valid("acls") > 0
    sizes = (contents.header.topics, contents.header.partitions, contents.header.brokers)
    assert sizes == (valid("topics"), valid("partitions"), valid("brokers"))
    unknown = range(gappy.known[0].stop, gappy.known[1].start)
    in_gap = fetch(gappy.raw, gappy.versions, None, history.times[unknown[len(unknown) // 2]])
    assert in_gap.acls.at_end is None
    assert in_gap.header.topics is None


def test_a_password_that_is_set_again_is_a_change(history: History, found: Contents) -> None:
    """Its iterations are the same; a new secret must not be invisible."""
    known: dict[tuple[str, int], int] = {}
    again = 0
    for event in history.events():
        if event.table == "user_scram_credential_record":
            key = (event.value["name"], event.value["mechanism"])
            again += known.get(key) == event.value["iterations"]
            known[key] = event.value["iterations"]
        elif event.table == "remove_user_scram_credential_record":
            known.pop((event.value["name"], event.value["mechanism"]), None)
    kinds = {one.kind: one.count for one in found.scram.kinds}
    assert kinds.get("SCRAM credential set again") == again > 0


@pytest.mark.parametrize("seed", range(5))
def test_sums_by_bucket_are_those_of_each_outage(seed: int) -> None:
    rng = random.Random(seed)
    period = Period(100_000, 100_000 + rng.randrange(5_000, 100_000))
    width_ms = period.bucket_ms
    outages = [sorted(rng.randrange(period.start_ms, period.end_ms + 1) for _ in range(2)) for _ in range(50)]
    edges = []
    for bucket_ms in {time_ms - time_ms % width_ms for outage in outages for time_ms in outage}:
        begun, ended = (
            [one[side] - bucket_ms for one in outages if 0 <= one[side] - bucket_ms < width_ms]
            for side in (0, 1)
        )
        edges.append(Edge("leaderless", bucket_ms, len(begun), sum(begun), len(ended), sum(ended)))

    def overlap(start_ms: int, end_ms: int, bucket_ms: int) -> int:
        return max(0, min(end_ms, bucket_ms + width_ms) - max(start_ms, bucket_ms))

    assert summed(period, edges) == {
        bucket_ms: sum(overlap(start_ms, end_ms, bucket_ms) for start_ms, end_ms in outages)
        for bucket_ms in period.buckets()
    }
