"""Behind a record of a known type that is not understood, only its tables are not known."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord
from kraftctl_protocol.generated.client_quota_record import EntityData as QuotaEntity
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_types import RECORD_TYPES
from kraftctl_protocol.uuids import ONE_UUID
from kraftctl_spark import cli
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.known_ranges import decode_ranges
from kraftctl_spark.history.not_known import decode_not_known, lost_at
from kraftctl_spark.history.questions.questions import parameters_of, sources
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.history.versions.kinds import KINDS
from kraftctl_spark.report.header import page_header
from kraftctl_spark.report.queries.fetch import fetch
from kraftctl_spark.report.sections.growth import growth
from tests.spark.earlier_release import forget
from tests.spark.history.asked import in_duckdb
from tests.spark.history.test_not_understood import (
    KNOWN,
    LATER,
    OTHER,
    continued_to,
    exported,
    frames,
    history,
    history_of,
    later_version,
    ranges,
    rows_of,
    types_with_a_table,
)
from tests.spark.metadata_histories import History

__all__ = ["exported", "history"]


def of_all_kinds(value: int) -> list[Message]:
    """A record that sets something in each table of records; with another value, it changes that."""
    return [
        TopicRecord("t", ONE_UUID),
        PartitionRecord(0, ONE_UUID, [1, 2], [1, 2], leader=1, leader_epoch=value, partition_epoch=value),
        RegisterBrokerRecord(1, broker_epoch=value),
        RegisterControllerRecord(3, incarnation_id=ONE_UUID if value else OTHER),
        ConfigRecord(resource_type=2, resource_name="t", name="retention.ms", value=str(value)),
        AccessControlEntryRecord(
            id=ONE_UUID, resource_type=2, resource_name="t", pattern_type=3, principal=f"User:{value}",
            host="*", operation=3, permission_type=3,
        ),
        ClientQuotaRecord([QuotaEntity("user", "u")], "producer_byte_rate", float(value)),
        FeatureLevelRecord("metadata.version", 20 + value),
        UserScramCredentialRecord("u", 1, b"s", b"k", b"k", 4096 + value),
        DelegationTokenRecord("User:o", "User:r", [], 0, 1, value, "token"),
        ProducerIdsRecord(1, 1, 1000 + value),
    ]  # fmt: skip


TABLES_OF_TYPES = {
    **dict.fromkeys(("TopicRecord", "RemoveTopicRecord"), ("topics", "partitions", "configs")),
    **dict.fromkeys(("PartitionRecord", "PartitionChangeRecord", "ClearElrRecord"), ("partitions",)),
    **dict.fromkeys(
        (
            *("RegisterBrokerRecord", "UnregisterBrokerRecord", "BrokerRegistrationChangeRecord"),
            *("FenceBrokerRecord", "UnfenceBrokerRecord"),
        ),
        ("brokers",),
    ),
    **dict.fromkeys(("RegisterControllerRecord", "UnregisterControllerRecord"), ("controllers",)),
    **dict.fromkeys(("AccessControlEntryRecord", "RemoveAccessControlEntryRecord"), ("acls",)),
    **dict.fromkeys(("UserScramCredentialRecord", "RemoveUserScramCredentialRecord"), ("scram_credentials",)),
    **dict.fromkeys(("DelegationTokenRecord", "RemoveDelegationTokenRecord"), ("delegation_tokens",)),
    "ConfigRecord": ("configs",),
    "ClientQuotaRecord": ("quotas",),
    "FeatureLevelRecord": ("features",),
    "ProducerIdsRecord": ("producer_ids",),
    **dict.fromkeys(("NoOpRecord", "ZkMigrationStateRecord"), ()),
}
"""The tables that a record of a type changes, or has a part in."""

OF_KNOWN_TYPES = [
    pytest.param(TABLES_OF_TYPES[row.message.NAME], row.message.NAME, value, reason, id=f"{name}-{reason}")
    for row in RECORD_TYPES
    if (name := row.message.NAME) in TABLES_OF_TYPES
    for reason, value in (
        ("unknown version", later_version(row.message.API_KEY)),
        ("undecodable", bytes([1, row.message.API_KEY, 0, 255, 255])),
    )
]


def test_every_type_is_tried() -> None:
    markers = {"BeginTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord"}
    assert {row.message.NAME for row in RECORD_TYPES} == TABLES_OF_TYPES.keys() | markers


@pytest.mark.parametrize(("lost", "name", "value", "reason"), OF_KNOWN_TYPES)
def test_behind_a_record_of_a_known_type_only_its_tables_are_not_known(
    tmp_path: Path, lost: tuple[str, ...], name: str, value: bytes, reason: str
) -> None:
    before, after = frames(of_all_kinds(0)), frames(of_all_kinds(1))
    output = history_of(tmp_path, [before, [value], after])
    at, end = len(before), len(before) + 1 + len(after)
    assert ranges(output) == [(0, end)]
    listed = read_versions(output, "not_known").to_pylist()
    assert [row["history_table"] for row in listed] == sorted(lost, key=ORDER.index) or [None]
    assert {(row["start_offset"], row["end_offset"], row["reason"]) for row in listed} == {(at, None, reason)}
    assert all(name in row["subject"] for row in listed)
    rows_of_it = decode_not_known(read_versions(output, "not_known"))
    known_ranges = decode_ranges(read_versions(output, "known_ranges"))
    for offset in (at - 1, at, end - 1):
        assert lost_at(rows_of_it, known_ranges, offset) == (set(lost) if offset >= at else set())
    with in_duckdb(output) as asked:
        known = {row["history_table"]: row["end_offset"] for row in asked.rows("known_tables")}
        for kind in KINDS[:-1]:
            is_lost = kind.name in lost
            assert known[kind.name] == (at if is_lost else end)
            rows = read_versions(output, kind.name).to_pylist()
            assert ({row["ended_by"] for row in rows} == {"gap"}) == is_lost, kind.name
            assert len(rows) == (1 if is_lost or kind.name == "topics" else 2), kind.name
            assert asked.rows(f"{kind.name}_at", as_of=at - 1)
            assert bool(asked.rows(f"{kind.name}_at", as_of=end - 1)) != is_lost
            changed = asked.rows(f"{kind.name}_diff", from_offset=at - 1, to_offset=end - 1)
            assert len(changed) == (0 if is_lost or kind.name == "topics" else 1), kind.name
        for question in sources():
            if not parameters_of(question):
                asked.rows(question)


ORDER = [kind.name for kind in KINDS]


@pytest.mark.parametrize("message", types_with_a_table())
def test_what_is_known_is_as_in_the_whole_log(
    exported: Path, history: History, tmp_path: Path, message: type[Message]
) -> None:
    """At every offset at which a table is known, and it is the same computed in one go or batch by batch."""
    raw, output = tmp_path / "raw", tmp_path / "history"
    shutil.copytree(exported / "raw", raw)
    forget(raw, message, "unknown version")
    HistoryTables(raw, output).catch_up()
    with in_duckdb(output) as asked, in_duckdb(exported / "history") as whole:
        known = asked.rows("known_tables")
        points = range(0, history.end, 19)
        for kind in KINDS:
            found = [one for one in known if one["history_table"] == kind.name]
            for at in points:
                rows = asked.rows(f"{kind.name}_at", as_of=at)
                if kind.name == "topics":
                    rows = [row | {"partitions": None} for row in rows]
                expected = whole.rows(f"{kind.name}_at", as_of=at)
                if kind.name == "topics":
                    expected = [row | {"partitions": None} for row in expected]
                if not any(one["start_offset"] <= at < one["end_offset"] for one in found):
                    expected = []
                assert sorted(map(str, rows)) == sorted(map(str, expected)), (kind.name, at)
    by_batch = tmp_path / "by batch"
    continued_to(raw, by_batch, (60, 120, history.end))
    for table in SCHEMAS:
        assert rows_of(by_batch, table) == rows_of(output, table), table


@pytest.mark.parametrize(
    ("value", "lost"),
    [
        pytest.param(later_version(0), "brokers", id="brokers"),
        pytest.param(later_version(5), "partitions", id="partitions"),
    ],
)
def test_status_and_page_say_which_tables_are_not_known(
    tmp_path: Path, value: bytes, lost: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = history_of(tmp_path, [frames(of_all_kinds(0)), [value], frames(of_all_kinds(1))])
    assert cli.main(["status", "--output", str(tmp_path / "raw")]) == 0
    text = f"version 99 since offset 11 (unknown version, 1 records): {lost}"
    assert text in capsys.readouterr().out
    contents = fetch(tmp_path / "raw", output, None, None)
    assert text in page_header(contents, "now")
    sizes = {"brokers": contents.header.brokers, "partitions": contents.header.partitions}
    assert sizes == dict.fromkeys(sizes, 1) | {lost: None}
    assert contents.header.topics == 1
    assert contents.features.at_end is not None
    assert contents.gaps == ()
    assert [(one.first_offset, one.last_offset) for one in contents.gaps_of(lost)] == [(11, 22)]
    with in_duckdb(output) as asked:
        (topic,) = asked.rows("topics_at", as_of=22)
        assert topic["partitions"] == (None if lost == "partitions" else 1)
        (hour,) = asked.rows("growth_per_hour")
        assert [name for name in ("topics", "partitions", "brokers") if hour[name] is None] == [lost]


def test_page_does_not_say_that_nothing_is_in_effect_where_it_is_not_known(tmp_path: Path) -> None:
    acls = later_version(18)
    output = history_of(tmp_path, [frames(of_all_kinds(0)), [acls], frames(of_all_kinds(1))])
    contents = fetch(tmp_path / "raw", output, None, None)
    assert contents.acls.at_end is None
    assert contents.quotas.at_end is not None
    assert (
        growth(contents).summary
        == "From the first to the last moment shown: topics 1 → 1; partitions 1 → 1; brokers 1 → 1."
    )


def test_without_configurations_no_time_under_a_minimum_is_known(tmp_path: Path) -> None:
    """What the minimum is, is not known: neither is whether there are too few."""
    minimum = ConfigRecord(resource_type=2, resource_name="t", name="min.insync.replicas", value="2")
    parts = [frames([*KNOWN, minimum]), frames(LATER), [later_version(4)], frames(KNOWN[2:])]
    output = history_of(tmp_path, parts)
    with in_duckdb(output) as asked:
        assert len(asked.rows("under_min_isr", as_of=4)) == 1
        assert [row["min_insync_replicas"] for row in asked.rows("under_min_isr", as_of=5)] == [None]
        assert asked.rows("partitions_at", as_of=5)
        (row,) = asked.rows("minutes_under_min_isr")
        assert (row["start_offset"], row["end_offset"], row["ended_by"]) == (4, 5, "gap")
