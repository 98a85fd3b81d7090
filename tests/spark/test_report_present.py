"""What the page says first: what is wrong at the end of the log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import ONE_UUID
from kraftctl_spark.report.contents import BrokerAtEnd, Contents, ImpairedPartition
from kraftctl_spark.report.current_history import current_history
from kraftctl_spark.report.queries.fetch import fetch
from kraftctl_spark.report.sections.now import now
from tests.spark.history.test_not_understood import KNOWN, LATER, UNKNOWN_TYPE, frames, history_of
from tests.spark.made_history import Steps, made_tables, until
from tests.spark.sample_clusters import START_S, broken, healthy

TOPIC = 2
CREATED: Steps = [
    *((0, RegisterBrokerRecord(broker_id=one, broker_epoch=one, fenced=False)) for one in (1, 2)),
    (1, [TopicRecord("t", ONE_UUID), PartitionRecord(0, ONE_UUID, [1, 2], [1, 2], leader=1)]),
]


def contents_of(directory: Path, steps: Steps, until_ms: int | None = None) -> Contents:
    tables = made_tables(directory / "tables", steps)
    history = current_history(tables, tables / "history", directory)
    return fetch(tables, history, None, until_ms)


@pytest.mark.parametrize("until_s", [None, START_S + 500])
def test_the_worst_is_first_with_names_times_and_causes(tmp_path: Path, until_s: int | None) -> None:
    """Whatever the period is."""
    section = now(contents_of(tmp_path, broken(), None if until_s is None else until_s * 1000))
    assert section.summary == (
        "Unfenced brokers: 1 of 5. Partitions with a leader and all replicas in sync: 3 of 20."
    )
    assert [(point.urgency, point.head) for point in section.points] == [
        ("bad", "4 partitions have no leader"),
        ("bad", "4 partitions are under their minimum ISR"),
        ("bad", "3 brokers are fenced"),
        ("warn", "17 partitions are under-replicated"),
        ("warn", "1 broker ended in its controlled shutdown"),
    ]
    texts = [point.text for point in section.points]
    assert texts[0] == (
        "audit-trail-2, orders-0, payments.europe.refunds-3, … since 12:40:00 (20 min): broker 1 was fenced."
    )
    assert (
        "orders-0, orders-1 since 12:33:20 (26 min 40 s): broker 3 began its controlled shutdown" in texts[1]
    )
    assert (
        "broker 2 since 12:16:40 (43 min 20 s), its session ended, or it was stopped while it led nothing,"
        " 12 partitions lack it"
    ) in texts[2]
    assert "broker 5 since 12:43:20 (16 min 40 s), registered, and not caught up yet." in texts[2]
    assert "users-0 since 12:38:20 (21 min 40 s): a replica left the ISR." in texts[3]
    assert texts[4] == "broker 3 since 12:33:30 (26 min 30 s), 13 partitions lack it."
    (leaderless, *_) = section.tables
    (row,) = (row for row in leaderless.rows if row[0] == "orders-0")
    assert row[3:] == ("none", "1", "2 (fenced), 3 (stopped)", "broker 1 was fenced")


def test_a_healthy_cluster_has_one_line(tmp_path: Path) -> None:
    section = now(contents_of(tmp_path, healthy()))
    assert section.points == ()
    assert section.summary == (
        "Nothing is wrong. Unfenced brokers: 4 of 4. "
        "Partitions with a leader and all replicas in sync: 16 of 16."
    )
    assert [table.rows for table in section.tables] == [()] * 4


def test_what_a_reassignment_adds_is_not_missing(tmp_path: Path) -> None:
    adds = PartitionChangeRecord(0, ONE_UUID, replicas=[1, 2, 3], adding_replicas=[3])
    present = contents_of(tmp_path, [*CREATED, (5, adds), until(9)]).present
    assert (present.whole, present.partitions, present.states) == (1, 1, ())


def test_a_partition_is_counted_once_however_often_it_was_impaired(tmp_path: Path) -> None:
    steps = list(CREATED)
    for time_s in range(10, 60, 10):
        steps.append((time_s, PartitionChangeRecord(0, ONE_UUID, isr=[1])))
        if time_s < 50:
            steps.append((time_s + 5, PartitionChangeRecord(0, ONE_UUID, isr=[1, 2])))
    contents = contents_of(tmp_path, [*steps, until(99)])
    assert contents.availability.total == 1
    present = contents.present
    assert present.under_replicated.rows == (
        ImpairedPartition("t-0", 50_000, 1, "1", (2,), 1, "ISR shrank", ()),
    )
    assert present.broken_brokers.rows == (BrokerAtEnd(2, "unfenced", 0, "registered", 1),)


def test_a_minimum_that_was_raised_is_a_cause(tmp_path: Path) -> None:
    steps: Steps = [
        *CREATED,
        (3, [ConfigRecord(TOPIC, "t", "min.insync.replicas", "2")]),
        (4, PartitionChangeRecord(0, ONE_UUID, isr=[2], leader=2)),
        (5, PartitionChangeRecord(0, ONE_UUID, isr=[1], leader=1, leader_recovery_state=1)),
        (6, PartitionChangeRecord(0, ONE_UUID, isr=[1, 2])),
        (7, [ConfigRecord(TOPIC, "t", "min.insync.replicas", "3")]),
        (8, PartitionChangeRecord(0, ONE_UUID, isr=[1])),
        until(9),
    ]
    (row,) = contents_of(tmp_path, steps).present.under_minimum.rows
    assert (row.since_ms, row.minimum, row.reason) == (7_000, 3, "minimum")


def test_a_broker_that_the_log_no_longer_has_is_named(tmp_path: Path) -> None:
    partition = PartitionRecord(0, ONE_UUID, [1, 9], [1], leader=1)
    records: list[Message] = [TopicRecord("t", ONE_UUID), partition]
    section = now(contents_of(tmp_path, [*CREATED[:1], (1, records), until(9)]))
    assert [(point.head, point.text) for point in section.points] == [
        ("1 broker is not registered", "broker 9, 1 partition lacks it."),
        (
            "1 partition is under-replicated",
            "t-0 since 00:00:01 (8 s): it was created so.",
        ),
    ]


def test_a_broker_that_shuts_down_is_not_fenced(tmp_path: Path) -> None:
    leaving = BrokerRegistrationChangeRecord(2, 2, in_controlled_shutdown=1)
    section = now(contents_of(tmp_path, [*CREATED, (5, leaving), until(9)]))
    assert [point.head for point in section.points] == ["1 broker is shutting down"]
    assert section.summary.startswith("Unfenced brokers: 1 of 2.")


def test_behind_what_is_not_understood_nothing_is_said_to_be_so(tmp_path: Path) -> None:
    output = history_of(tmp_path, [frames(KNOWN), [UNKNOWN_TYPE], frames(LATER)])
    section = now(fetch(tmp_path / "raw", output, None, None))
    assert section.summary == (
        "The state is not known: this release does not understand record type 120 version 3 at offset 3."
    )
    assert (section.points, section.tables) == ((), ())


def test_now_is_the_time_of_the_last_record(tmp_path: Path) -> None:
    contents = contents_of(tmp_path, [*CREATED, until(9)])
    assert (contents.present.time_ms, contents.present.offset) == (9_000, 4)


@pytest.mark.parametrize(("age_s", "title"), [(300, "Now"), (301, "When the export ended")])
def test_an_old_export_is_not_taken_for_now(tmp_path: Path, age_s: int, title: str) -> None:
    contents = contents_of(tmp_path, healthy())
    section = now(replace(contents, made_ms=contents.present.time_ms + age_s * 1000))
    assert section.title == title
    if title == "Now":
        assert section.summary.startswith("Nothing is wrong. ")
        assert not section.points
    else:
        assert section.summary.startswith("Nothing was wrong. ")
        assert section.points[0].head == "The export ended 5 min 1 s before this page was made"
