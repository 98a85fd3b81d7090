"""What the report counts, on logs of a few records."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.uuids import ONE_UUID
from kraftctl_spark.history.history_manifest import HistoryManifest, locked, read_manifest
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.report import current_history as module
from kraftctl_spark.report.contents import Contents, FencedBroker, Gap, Size
from kraftctl_spark.report.current_history import current_history
from kraftctl_spark.report.period import Period
from kraftctl_spark.report.queries.fetch import fetch
from kraftctl_spark.report.queries.growth import Step, sizes
from kraftctl_spark.report.sections.availability import availability
from kraftctl_spark.tables.manifest import ExportRefusedError
from tests.spark.made_history import Steps, made_tables, until

REGISTERED = (0, RegisterBrokerRecord(broker_id=7, broker_epoch=100, fenced=False))
KILLED: Steps = [REGISTERED, (10, BrokerRegistrationChangeRecord(7, 100, fenced=1)), until(30)]
STOPPED: Steps = [
    REGISTERED,
    (10, BrokerRegistrationChangeRecord(7, 100, in_controlled_shutdown=1)),
    (12, BrokerRegistrationChangeRecord(7, 100, fenced=1)),
    until(40),
]


def contents_of(
    directory: Path, steps: Steps, from_ms: int | None = None, until_ms: int | None = None
) -> Contents:
    tables = made_tables(directory / "tables", steps)
    history = current_history(tables, tables / "history", directory)
    return fetch(tables, history, from_ms, until_ms)


@pytest.mark.parametrize(
    ("steps", "from_s", "expected"),
    [
        pytest.param(KILLED, 0, FencedBroker(7, 1, 20_000, 0, 0), id="killed"),
        pytest.param(STOPPED, 0, FencedBroker(7, 0, 0, 28_000, 1), id="stopped-in-order"),
        pytest.param(KILLED, 20, FencedBroker(7, 0, 10_000, 0, 0), id="killed-before-the-period"),
        pytest.param(STOPPED, 20, FencedBroker(7, 0, 0, 20_000, 0), id="stopped-before-the-period"),
    ],
)
def test_an_orderly_stop_is_not_counted_as_a_fencing(
    tmp_path: Path, steps: Steps, from_s: int, expected: FencedBroker
) -> None:
    """Nor is what happened before the period."""
    contents = contents_of(tmp_path, steps, from_s * 1000)
    assert contents.fenced_brokers.rows == (expected,)
    assert (contents.fenced_times, contents.shutdowns) == (expected.fenced, expected.shutdowns)
    assert any(row.state == "stopped" for row in contents.fencing.rows) == (steps is STOPPED)


SET_BACK: Steps = [
    (1, TopicRecord("t", ONE_UUID)),
    (2, PartitionRecord(0, ONE_UUID, [1, 2], [1], leader=1)),
    (2, RegisterBrokerRecord(broker_id=7, broker_epoch=100, fenced=False)),
    (100, PartitionChangeRecord(0, ONE_UUID, isr=[2], leader=2, leader_recovery_state=1)),
    (100, BrokerRegistrationChangeRecord(7, 100, fenced=1)),
    (80, PartitionChangeRecord(0, ONE_UUID, isr=[2, 1])),
    (80, BrokerRegistrationChangeRecord(7, 100, fenced=-1)),
    until(150),
]
"""The clock of a new leader is behind that of the former one."""


def test_what_ended_before_the_period_by_another_clock_began_in_it(tmp_path: Path) -> None:
    contents = contents_of(tmp_path, SET_BACK, 90_000)
    assert [(row.kind, row.cause, row.elections) for row in contents.elections] == [
        ("unclean", "failover", 1)
    ]
    assert [row.offset for row in contents.unclean_elections.rows] == [3]
    assert contents.fenced_brokers.rows == (FencedBroker(7, 1, 0, 0, 0),)
    assert [(row.state, row.end_ms - row.start_ms) for row in contents.fencing.rows] == [
        ("unfenced", 60_000),
        ("unfenced", 10_000),
        ("fenced", 0),
    ]
    assert {(size.brokers, size.partitions) for size in contents.growth} == {(1, 1)}
    (mark,) = (mark for mark in contents.timeline if mark.row == "unclean elections")
    assert mark.start_ms == 100_000


def test_a_redacted_value_that_is_set_again_is_shown(tmp_path: Path) -> None:
    """Its value may be another one."""
    steps = [(time_s, ConfigRecord(2, "t", "plugin.password", str(time_s))) for time_s in (1, 2)]
    steps += [(time_s, ConfigRecord(2, "t", "retention.ms", "7")) for time_s in (3, 4)]
    rows = contents_of(tmp_path, steps).config_changes.rows
    assert [(row.offset, row.old_value, row.new_value) for row in rows] == [
        (2, None, "7"),
        (1, "(redacted)", "(redacted)"),
        (0, None, "(redacted)"),
    ]


def test_a_new_replica_that_an_assignment_adds_is_not_missing(tmp_path: Path) -> None:
    steps: Steps = [
        (0, TopicRecord("t", ONE_UUID)),
        (0, PartitionRecord(0, ONE_UUID, [1, 2], [1, 2], leader=1)),
        (5, PartitionChangeRecord(0, ONE_UUID, replicas=[1, 2, 3], adding_replicas=[3])),
        (9, PartitionChangeRecord(0, ONE_UUID, isr=[1])),
        until(20),
    ]
    contents = contents_of(tmp_path, steps)
    (row,) = contents.availability.rows
    assert (row.partition, row.leaderless_ms, row.under_replicated_ms) == ("t-0", 0, 11_000)
    (move,) = contents.reassignments.rows
    assert (move.outcome, move.duration_ms, move.old_replicas, move.new_replicas) == (
        "running",
        15_001,
        "1, 2",
        "1, 2, 3",
    )


def test_partitions_that_were_deleted_are_not_those_of_the_cluster(tmp_path: Path) -> None:
    """One that was impaired twice is one, and the page may not name more than the cluster has in silence."""
    other = b"another topic id"
    partition = PartitionRecord(0, ONE_UUID, [1, 2], [1, 2], leader=1)
    steps: Steps = [
        (0, [TopicRecord("t", ONE_UUID), partition]),
        *(
            (time_s, PartitionChangeRecord(0, ONE_UUID, isr=[1, 2][: time_s % 2 + 1]))
            for time_s in range(1, 9)
        ),
        (9, RemoveTopicRecord(ONE_UUID)),
        (10, [TopicRecord("t", other), PartitionRecord(0, other, [1, 2], [1], leader=1)]),
        until(20),
    ]
    contents = contents_of(tmp_path, steps)
    assert (contents.availability.total, contents.availability_deleted, contents.header.partitions) == (
        2,
        1,
        1,
    )
    assert availability(contents).summary.startswith("2 partitions, 1 of them deleted since. ")


AHEAD: Steps = [
    (20, RegisterBrokerRecord(broker_id=7, broker_epoch=100, fenced=False)),
    (1, TopicRecord("a", ONE_UUID)),
    (2, PartitionRecord(0, ONE_UUID, [1, 2], [1], leader=1)),
    (201, PartitionChangeRecord(0, ONE_UUID, isr=[2], leader=2, leader_recovery_state=1)),
    until(150),
]
"""The clock of a former leader was ahead."""


def test_a_report_of_everything_goes_from_the_smallest_time_to_the_greatest(tmp_path: Path) -> None:
    contents = contents_of(tmp_path, AHEAD)
    assert (contents.period.start_ms, contents.period.end_ms) == (1_000, 201_001)
    assert (contents.header.start_ms, contents.header.end_ms) == (1_000, 201_000)
    assert [row.time_ms for row in contents.unclean_elections.rows] == [201_000]
    assert sum(row.records for row in contents.record_types) == len(AHEAD)
    (state,) = contents.fencing.rows
    assert (state.start_ms, state.end_ms, state.ended_by) == (20_000, 201_000, "end")


def test_an_outage_that_ends_before_it_began_takes_no_time_from_others(tmp_path: Path) -> None:
    steps: Steps = [
        (1, TopicRecord("t", ONE_UUID)),
        (1, PartitionRecord(0, ONE_UUID, [1, 2], [1, 2], leader=1)),
        (10, PartitionChangeRecord(0, ONE_UUID, isr=[1], leader=-1)),
        (30, PartitionChangeRecord(0, ONE_UUID, isr=[1, 2], leader=1)),
        (100, PartitionChangeRecord(0, ONE_UUID, isr=[1], leader=-1)),
        (80, PartitionChangeRecord(0, ONE_UUID, isr=[1, 2], leader=1)),
        until(150),
    ]
    contents = contents_of(tmp_path, steps)
    (row,) = contents.availability.rows
    assert (row.leaderless_ms, row.under_replicated_ms) == (20_000, 20_000)
    found = contents.availability_over_time
    assert sum(bucket.leaderless_ms for bucket in found) == 20_000
    assert sum(bucket.under_replicated_ms for bucket in found) == 20_000


@pytest.mark.parametrize("name", ["it's [a] *", "end_offset=77", "env=prod"])
def test_a_path_that_looks_like_a_pattern_is_a_path(tmp_path: Path, name: str) -> None:
    """Nor is it a partition of Hive, which would be a column, or replace one."""
    place = tmp_path / name
    place.mkdir()
    contents = contents_of(place, KILLED)
    assert (contents.header.brokers, contents.header.end_offset) == (1, 3)
    assert contents.fenced_brokers.rows == (FencedBroker(7, 1, 20_000, 0, 0),)


def test_a_history_is_computed_then_continued_and_then_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    tables = made_tables(tmp_path / "tables", KILLED[:2])
    place = tmp_path / "elsewhere"
    assert current_history(tables, place, tmp_path) == place
    assert "has no history: it is computed first" in caplog.text
    made_tables(tables, KILLED)
    assert current_history(tables, place, tmp_path) == place
    assert "the history goes up to offset 2: it is continued first" in caplog.text
    manifest = read_manifest(place)
    assert manifest is not None
    assert manifest.end == 3

    def refuse(tables: HistoryTables) -> NoReturn:
        raise AssertionError("it is complete")

    monkeypatch.setattr(HistoryTables, "catch_up", refuse)
    assert current_history(tables, place, tmp_path) == place


def test_where_nothing_can_be_written_it_is_computed_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    tables = made_tables(tmp_path / "tables", KILLED)
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    @contextmanager
    def read_only(output: Path, wait_s: float) -> Iterator[None]:
        if output.is_relative_to(tables):
            raise PermissionError(errno.EROFS, "Read-only file system")
        with locked(output, wait_s):
            yield

    monkeypatch.setattr("kraftctl_spark.history.history_manifest.locked", read_only)
    history = current_history(tables, tables / "history", scratch)
    assert history == scratch / "history"
    assert "the history is computed in a temporary directory" in caplog.text
    assert fetch(tables, history, None, None).header.brokers == 1


def test_while_another_process_continues_it_the_report_shows_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "BUSY_WAIT_S", 0.0)
    tables = made_tables(tmp_path / "tables", KILLED[:2])
    place = tables / "history"
    with locked(place), pytest.raises(ExportRefusedError, match="another process writes"):
        current_history(tables, place, tmp_path)
    current_history(tables, place, tmp_path)
    made_tables(tables, KILLED)
    with locked(place):
        assert current_history(tables, place, tmp_path) == place
    assert "it has to end first; the report ends at offset 1" in caplog.text
    contents = fetch(tables, place, None, None)
    assert contents.header.end_offset == 2
    assert sum(row.records for row in contents.record_types) == 2


def test_a_history_that_is_continued_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = made_tables(tmp_path / "tables", KILLED)
    place = current_history(tables, tables / "history", tmp_path)
    good = read_manifest(place)
    assert good is not None
    gone = HistoryManifest(good.cluster_id, good.end, good.files[:1] * 2)
    read = iter([gone, good, good])
    monkeypatch.setattr("kraftctl_spark.report.queries.fetch.read_manifest", lambda output: next(read))
    assert fetch(tables, place, None, None).header.brokers == 1


def test_sizes_are_what_has_begun_and_not_ended() -> None:
    period = Period(10_000, 14_000)
    steps = (
        Step("topics", 3_000, 2),
        Step("partitions", 3_000, 6),
        Step("brokers", 3_000, 3),
        Step("topics", 11_000, 1),
        Step("partitions", 12_000, -4),
    )
    assert sizes(period, steps, [], {}) == (
        Size(10_000, 2, 6, 3),
        Size(11_000, 3, 6, 3),
        Size(12_000, 3, 2, 3),
        Size(13_000, 3, 2, 3),
    )


def test_sizes_in_a_gap_of_the_log_are_not_known() -> None:
    period = Period(10_000, 14_000)
    steps = (Step("topics", 10_000, 2), Step("topics", 11_000, -2), Step("topics", 13_000, 5))
    found = sizes(period, steps, [Gap(3, 4, 11_500, 13_000)], {})
    assert [size.topics for size in found] == [2, None, None, 5]
