"""Questions that are asked the other way round, of nothing, or where part of an answer is not known."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.uuids import ONE_UUID
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.versions.kinds import KINDS, QUORUM
from tests.spark.compared_rows import compare_rows
from tests.spark.history.asked import Row
from tests.spark.history.asked_macros import time_text, with_macros
from tests.spark.history.test_not_understood import KNOWN, LATER, frames, history_of, later_version
from tests.spark.history.test_versions import Tables, export, gappy, history, whole
from tests.spark.made_history import made_tables
from tests.spark.metadata_histories import History, generate, time_of

__all__ = ["gappy", "history", "whole"]

PAIRS = 12


def turned(row: Row) -> Row:
    """The same difference, from the other point."""
    names = {"before": "after", "after": "before"}
    found = {}
    for name, value in row.items():
        stem, _, end = name.rpartition("_")
        found[f"{stem}_{names[end]}" if end in names else name] = value
    return found | {"change": {"added": "removed", "removed": "added"}.get(row["change"], row["change"])}


def keys(name: str, rows: Iterable[Row]) -> set[str]:
    (kind,) = (kind for kind in KINDS if kind.name == name)
    return {str([row[column] for column in kind.key]) for row in rows}


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS if kind is not QUORUM])
def test_a_difference_backwards_is_the_other_one_turned(
    whole: Tables, history: History, tmp_path: Path, kind: str
) -> None:
    """Of all but the quorum, which is the same in all of a generated log."""
    rng = random.Random(kind)
    compared = 0
    with with_macros(whole.raw, whole.versions, tmp_path) as asked:
        for _ in range(PAIRS):
            first, last = sorted(rng.sample(range(history.end), 2))
            forwards = asked.rows(f"FROM {kind}_diff({first}, {last})")
            backwards = asked.rows(f"FROM {kind}_diff({last}, {first})")
            compare_rows(f"{first} to {last}", backwards, map(turned, forwards))
            before, after = (keys(kind, asked.rows(f"FROM {kind}_at({at})")) for at in (first, last))
            for change, wanted in (("added", after - before), ("removed", before - after)):
                assert keys(kind, [row for row in forwards if row["change"] == change]) == wanted
            compared += len(backwards)
        assert not asked.rows(f"FROM {kind}_diff({last}, {last})")
    assert compared


@pytest.mark.parametrize("question", ["outages", "availability", "incident"])
def test_a_window_that_ends_before_it_begins_has_no_answer(
    whole: Tables, history: History, tmp_path: Path, question: str
) -> None:
    """At each pair of close records: states that last longer than the window are in none of it."""
    all_topics = "NULL, " if question == "availability" else ""
    times = sorted(set(history.times.values()))
    with with_macros(whole.raw, whole.versions, tmp_path) as asked:
        for early_ms, late_ms in zip(times[20::40], times[21::40], strict=False):
            from_until = f"{time_text(late_ms)}, {time_text(early_ms)}"
            assert not asked.rows(f"FROM {question}({all_topics}{from_until})")


@pytest.mark.parametrize("behind_ms", [0, 70 * 60_000])
def test_no_time_of_a_window_is_known_twice(tmp_path: Path, behind_ms: int) -> None:
    """Where the clock is behind after a gap, the known ranges overlap."""

    def clock(offset: int) -> int:
        return time_of(offset) - (behind_ms if offset > 90 else 0)

    made = generate(3, 240, snapshots=(120,), clock=clock)
    (cut,) = made.snapshots
    export(made, tmp_path / "raw", [60, made.end], (cut,))
    HistoryTables(tmp_path / "raw", tmp_path / "versions").rebuild()
    with with_macros(tmp_path / "raw", tmp_path / "versions", tmp_path) as asked:
        ranges = asked.rows("SELECT epoch_ms(start_time) AS a, epoch_ms(end_time) AS b FROM known_ranges")
        first_ms, last_ms = min(row["a"] for row in ranges), max(row["b"] for row in ranges)
        seconds = range(first_ms, last_ms, 1000)
        known_ms = 1000 * sum(any(row["a"] <= at < row["b"] for row in ranges) for at in seconds)
        rows = asked.rows(f"FROM availability(NULL, {time_text(first_ms)}, {time_text(last_ms)})")
    assert len(ranges) == 2
    assert {row["not_known_ms"] for row in rows} == {last_ms - first_ms - known_ms}
    assert (known_ms == last_ms - first_ms) == (behind_ms > 0)


def test_the_minimum_is_null_where_the_configurations_are_not_known(tmp_path: Path) -> None:
    """No partition is said to have enough replicas: those that lack some may have too few."""
    minimum = ConfigRecord(resource_type=2, resource_name="t", name="min.insync.replicas", value="2")
    fine = PartitionRecord(1, ONE_UUID, [1, 2], [1, 2], leader=1)
    parts = [frames([*KNOWN, minimum, fine]), frames(LATER), [later_version(4)], frames(KNOWN[2:])]
    output = history_of(tmp_path, parts)
    with with_macros(tmp_path / "raw", output, tmp_path) as asked:
        found = [asked.rows(f"FROM under_min_isr({offset})") for offset in range(4, 8)]
    minima = [[(row["partition_id"], row["min_insync_replicas"]) for row in rows] for rows in found]
    assert minima == [[], [(0, 2)], [(0, None)], [(0, None)]]


def acl(number: int, resource_type: int, operation: int) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=bytes([number]) * 16,
        resource_type=resource_type,
        resource_name="orders",
        pattern_type=3,
        principal="User:a",
        host="*",
        operation=operation,
        permission_type=3,
    )


def test_rights_are_asked_for_as_kafkas_tools_name_them(tmp_path: Path) -> None:
    made_tables(tmp_path / "raw", [(0, acl(1, 2, 11)), (1, acl(2, 5, 4))])
    HistoryTables(tmp_path / "raw", tmp_path / "versions").rebuild()
    with with_macros(tmp_path / "raw", tmp_path / "versions", tmp_path) as asked:

        def ids(operation: str, resource_type: str) -> int:
            given = f"'User:a', '{operation}', '{resource_type}', 'orders', 1"
            return len(asked.rows(f"FROM who_could({given})"))

        for operation in ("ALTER_CONFIGS", "AlterConfigs", "alter_configs", "DescribeConfigs"):
            assert ids(operation, "Topic") == ids(operation, "TOPIC") == 1
            assert ids(operation, "TransactionalId") == 0
        for resource_type in ("TRANSACTIONAL_ID", "TransactionalId", "transactional_id"):
            assert ids("Write", resource_type) == ids("describe", resource_type) == 1
            assert ids("Read", resource_type) == 0
