"""The page never says that nothing is wrong, or that nothing happened, where that is not known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.uuids import ONE_UUID
from kraftctl_spark.history.versions.kinds import KINDS
from kraftctl_spark.report.contents import Contents, Gap
from kraftctl_spark.report.header import page_header
from kraftctl_spark.report.page import render
from kraftctl_spark.report.queries import present
from kraftctl_spark.report.queries.fetch import fetch
from kraftctl_spark.report.section import NOTHING
from kraftctl_spark.report.sections import ALL
from kraftctl_spark.report.sections.known_part import NOTHING_KNOWN, TABLES, with_unknown
from kraftctl_spark.report.sections.now import now
from tests.spark.history.test_not_understood import UNKNOWN_TYPE, frames, history_of, later_version
from tests.spark.report_contents import busy, quiet
from tests.spark.test_report_present import CREATED, contents_of

HEALTHY = frames(
    [
        RegisterBrokerRecord(1, fenced=False),
        RegisterBrokerRecord(2, fenced=False),
        TopicRecord("t", ONE_UUID),
        PartitionRecord(0, ONE_UUID, [1, 2], [1, 2], leader=1),
    ]
)
LACKING = frames([PartitionRecord(1, ONE_UUID, [1, 2], [1], leader=1)])
KNOWN_BROKERS = "Unfenced brokers: 2 of 2."
KNOWN_PARTITIONS = "Partitions with a leader and all replicas in sync: 1 of 1."
NO_BROKERS, NO_PARTITIONS = (
    "Unfenced brokers: not known.",
    "Partitions with a leader and all replicas in sync: not known.",
)


def behind(directory: Path, *values: bytes) -> Contents:
    output = history_of(directory, [HEALTHY, *([value] for value in values)])
    return fetch(directory / "raw", output, None, None)


@pytest.mark.parametrize(
    ("type_id", "name", "lost", "summary"),
    [
        pytest.param(0, "RegisterBroker", "brokers", f"{NO_BROKERS} {KNOWN_PARTITIONS}", id="brokers"),
        pytest.param(
            17, "BrokerRegistrationChange", "brokers", f"{NO_BROKERS} {KNOWN_PARTITIONS}", id="broker"
        ),
        pytest.param(5, "PartitionChange", "partitions", f"{KNOWN_BROKERS} {NO_PARTITIONS}", id="partitions"),
        pytest.param(2, "Topic", "configs, partitions", f"{KNOWN_BROKERS} {NO_PARTITIONS}", id="topics"),
        pytest.param(4, "Config", "configs", f"{KNOWN_BROKERS} {KNOWN_PARTITIONS}", id="configs"),
    ],
)
def test_what_is_not_known_now_is_not_fine(
    tmp_path: Path, type_id: int, name: str, lost: str, summary: str
) -> None:
    section = now(behind(tmp_path, later_version(type_id)))
    assert section.summary == summary
    (point,) = section.points
    assert (point.urgency, point.head) == ("warn", f"Not known: {lost}")
    assert point.text == f"this release does not understand {name}Record version 99 at offset 4."


def test_what_says_nothing_about_now_leaves_it_fine(tmp_path: Path) -> None:
    section = now(behind(tmp_path, later_version(18)))
    assert section.summary == f"Nothing is wrong. {KNOWN_BROKERS} {KNOWN_PARTITIONS}"
    assert section.points == ()


def test_a_broker_is_not_called_unregistered_where_brokers_are_not_known(tmp_path: Path) -> None:
    section = now(behind(tmp_path, later_version(0), *LACKING))
    assert [point.head for point in section.points] == [
        "Not known: brokers",
        "1 partition is under-replicated",
    ]
    assert [row[5] for table in section.tables for row in table.rows] == ["2"]


def test_a_broker_that_is_not_listed_is_not_called_unfenced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fenced = [(0, RegisterBrokerRecord(broker_id=one, broker_epoch=one)) for one in (1, 2)]
    lacking = PartitionRecord(0, ONE_UUID, [1, 2, 3], [3], leader=3)
    monkeypatch.setattr(present, "BROKERS_MAX", 1)
    section = now(contents_of(tmp_path, [*fenced, (1, [TopicRecord("t", ONE_UUID), lacking])]))
    (row,) = section.tables[2].rows
    assert row[5] == "1 (fenced), 2"


def test_the_record_is_named_behind_which_nothing_is_known(tmp_path: Path) -> None:
    """And not one before it of which only new fields are not known, or one table."""
    topic = TopicRecord("u", bytes([7] * 16))
    topic.unknown_tagged_fields = [(99, b"new")]
    contents = behind(tmp_path, *frames([topic]), later_version(0), UNKNOWN_TYPE)
    assert now(contents).summary == (
        "The state is not known: this release does not understand record type 120 version 3 at offset 6."
    )


OF_TABLES = [
    (0, ("brokers",)),
    (2, ("topics", "partitions", "configs")),
    (3, ("partitions",)),
    (4, ("configs",)),
    (11, ("scram_credentials",)),
    (10, ("delegation_tokens",)),
    (12, ("features",)),
    (14, ("quotas",)),
    (18, ("acls",)),
]


@pytest.mark.parametrize(("type_id", "lost"), OF_TABLES)
def test_a_section_says_since_when_its_tables_are_not_known(
    tmp_path: Path, type_id: int, lost: tuple[str, ...]
) -> None:
    contents = behind(tmp_path, later_version(type_id), *LACKING)
    for section in ALL:
        made = section(contents)
        summary = with_unknown(made, contents).summary
        if set(TABLES.get(made.name, ())) & set(lost):
            assert " Not known: " in summary, made.name
            assert "from 1970-01-01 00:00:01 to 1970-01-01 00:00:01 UTC." in summary, made.name
            assert NOTHING not in summary, made.name
        else:
            assert summary == made.summary


def test_nothing_is_known_to_have_happened_in_a_gap() -> None:
    period = quiet().period
    contents = replace(quiet(), gaps=(Gap(5, 9, period.start_ms, period.end_ms),))
    page = render(contents, "made by a test")
    assert NOTHING_KNOWN in page
    assert page.count(NOTHING) == 1  # The types of records, which the tables have all the same.


@pytest.mark.parametrize(
    ("start_ms", "end_ms", "shown"),
    [
        pytest.param(-1, 1, "<li><b>not known</b> elections</li>", id="all-of-it"),
        pytest.param(1, 1, "<li><b>0</b> elections where known</li>", id="all-but-the-beginning"),
        pytest.param(-1, -2, "<li><b>0</b> elections where known</li>", id="all-but-the-end"),
    ],
)
def test_a_sum_over_what_is_not_known_is_no_number(start_ms: int, end_ms: int, shown: str) -> None:
    period = quiet().period
    gap = Gap(5, 9, period.start_ms + start_ms, period.end_ms + end_ms)
    page = page_header(replace(quiet(), lost={"partitions": (gap,)}), "now")
    assert shown in page
    assert "<li><b>0</b> times fenced</li>" in page


def test_every_table_is_in_a_section_and_every_gap_is_drawn() -> None:
    assert {table for tables in TABLES.values() for table in tables} == {
        kind.name for kind in KINDS if kind.name != "producer_ids"
    }
    assert set(TABLES) <= {section(busy()).name for section in ALL}
    whole = busy().period
    gap = Gap(7, 8, whole.start_ms + 1, whole.end_ms - 1)
    for section in ALL:
        name = section(busy()).name
        for table in ("partitions", "configs"):
            made = section(replace(busy(), gaps=(), lost={table: (gap,)}))
            bands = [
                len(plot.figure.layout.shapes)
                for plot in made.plots
                if plot.figure.layout.xaxis.type == "date"
            ]
            if TABLES.get(name) == (table,):
                assert sum(bands) >= bool(bands), name
            elif name not in ("timeline", "growth"):
                assert not sum(bands), name


def test_a_healthy_cluster_is_still_fine(tmp_path: Path) -> None:
    assert now(contents_of(tmp_path, CREATED)).summary.startswith("Nothing is wrong. ")
