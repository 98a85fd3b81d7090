"""A record about something that the log never set changes nothing: only that one thing is not known.

Which types of records can be about such a thing follows from their rows.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord
from kraftctl_protocol.generated.client_quota_record import EntityData as QuotaEntity
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.fence_broker_record import FenceBrokerRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unfence_broker_record import UnfenceBrokerRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_types import CHANGES, RECORD_TYPES, REMOVES
from kraftctl_protocol.uuids import ONE_UUID
from kraftctl_spark import cli
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.history.versions.kinds import KINDS
from kraftctl_spark.report.header import page_header
from kraftctl_spark.report.queries.fetch import fetch
from tests.spark.history.asked import in_duckdb
from tests.spark.history.test_lost_tables import of_all_kinds
from tests.spark.history.test_not_understood import OTHER, frames, history_of, later_version, ranges, rows_of

TOPIC = "AAAAAAAAAAAAAAAAAAAAAg"
NEVER_SET: list[tuple[Message, str, str]] = [
    (PartitionRecord(3, OTHER, [1], [1], leader=1), "partitions", f"partitions of topic {TOPIC}"),
    (PartitionChangeRecord(7, ONE_UUID, leader=2), "partitions", f"partition 7 of topic {TOPIC[:-1]}Q"),
    (ClearElrRecord("other"), "partitions", "partitions of topic other"),
    (RemoveTopicRecord(OTHER), "topics", f"topic {TOPIC}"),
    (FenceBrokerRecord(9, 1), "brokers", "broker 9"),
    (UnfenceBrokerRecord(9, 1), "brokers", "broker 9"),
    (BrokerRegistrationChangeRecord(9, 1, fenced=1), "brokers", "broker 9"),
    (UnregisterBrokerRecord(9, 1), "brokers", "broker 9"),
    (UnregisterControllerRecord(9), "controllers", "controller 9"),
    (RemoveAccessControlEntryRecord(OTHER), "acls", f"ACL {TOPIC}"),
    (ClientQuotaRecord([QuotaEntity("user", None)], "x", remove=True), "quotas", "quota user=<default> x"),
    (RemoveUserScramCredentialRecord("v", 1), "scram_credentials", "SCRAM credential v SCRAM-SHA-256"),
    (RemoveDelegationTokenRecord("other"), "delegation_tokens", "delegation token other"),
]  # fmt: skip
WITHOUT_EFFECT: list[Message] = [
    FeatureLevelRecord("other", 0),
    ConfigRecord(4, "9", "log.retention.ms", None),
    ConfigRecord(4, "9", "log.retention.ms", "1"),
    ClearElrRecord(""),
]
"""Level 0 and no value are defaults; a broker's configurations need no broker, and there may be no ELR."""


def test_every_type_that_can_be_about_another_thing_is_tried() -> None:
    can_be = {
        row.message
        for row in RECORD_TYPES
        if row.effect in (CHANGES, REMOVES) or row.flag or {"topic", "topic_id"} & {*computed(row.values)}
    }
    can_be.remove(ConfigRecord)  # It is about a name, which stays.
    assert {type(record) for record, _, _ in NEVER_SET} == can_be


def computed(columns: tuple[tuple[str, str], ...]) -> list[str]:
    return [column for field, column in columns if not field]


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The history of the same log without such a record."""
    parts = [frames(of_all_kinds(0)), frames(of_all_kinds(1))]
    return history_of(tmp_path_factory.mktemp("without"), parts)


@pytest.mark.parametrize(("record", "table", "subject"), NEVER_SET, ids=lambda one: type(one).__name__)
def test_only_that_thing_is_not_known(
    tmp_path: Path, without: Path, record: Message, table: str, subject: str
) -> None:
    before, after = frames(of_all_kinds(0)), frames(of_all_kinds(1))
    here = history_of(tmp_path, [before, frames([record, record]), after, frames([record])])
    at, end = len(before), len(before) + len(after) + 3
    (row,) = read_versions(here, "not_known").to_pylist()
    assert (row["start_offset"], row["end_offset"], row["reason"]) == (at, None, "never set")
    assert (row["history_table"], row["subject"], row["records"]) == (table, subject, 3)
    assert ranges(here) == [(0, end)]
    for kind in KINDS:
        assert values_of(here, kind.name) == values_of(without, kind.name), kind.name
    events = read_versions(here, "events").to_pylist()
    assert [one["subject"] for one in events if one["kind"] == "not known"] == [subject]
    assert len(events) == read_versions(without, "events").num_rows + 1
    with in_duckdb(here) as asked:
        known = {one["history_table"]: one["end_offset"] for one in asked.rows("known_tables")}
        assert set(known.values()) == {end}


def test_status_and_page_list_them_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = frames(of_all_kinds(0))
    records = [record for record, _, _ in NEVER_SET]
    output = history_of(tmp_path, [before, frames(records), frames(records)])
    raw = tmp_path / "raw"
    assert cli.main(["history", "--tables", str(raw)]) == 0
    assert cli.main(["status", "--output", str(raw)]) == 0
    status = capsys.readouterr().out
    page = page_header(fetch(raw, output, None, None), "now")
    for place, (_, _, subject) in enumerate(NEVER_SET, len(before)):
        if NEVER_SET[place - len(before) - 1][2] != subject:  # It has another row than the one before.
            text = f"{subject} since offset {place} (never set, "
            assert text in status
            assert text.replace("<", "&lt;").replace(">", "&gt;") in page
    HistoryTables(raw, tmp_path / "anew").rebuild()
    for name in SCHEMAS:
        assert rows_of(output, name) == rows_of(tmp_path / "anew", name), name


def values_of(output: Path, table: str) -> list[str]:
    rows = read_versions(output, table).to_pylist()
    return sorted(
        str({name: value for name, value in row.items() if not name.endswith(("_offset", "_time"))})
        for row in rows
    )


@pytest.mark.parametrize("record", WITHOUT_EFFECT, ids=str)
def test_a_default_is_about_nothing_else(tmp_path: Path, record: Message) -> None:
    output = history_of(tmp_path, [frames(of_all_kinds(0)), frames([record])])
    assert read_versions(output, "not_known").num_rows == 0


def test_a_removed_thing_is_not_there_any_more(tmp_path: Path) -> None:
    """What was set, and removed, is never set for a record that comes later."""
    change = PartitionChangeRecord(0, ONE_UUID, leader=1)
    config = ConfigRecord(2, "t", "retention.ms", "7")
    values = [frames(of_all_kinds(0)), frames([RemoveTopicRecord(ONE_UUID), change, config])]
    output = history_of(tmp_path, [*values, frames([TopicRecord("t", OTHER), config])])
    rows = read_versions(output, "not_known").to_pylist()
    assert [(row["start_offset"], row["history_table"]) for row in rows] == [(12, "partitions")]
    (valid,) = [row for row in read_versions(output, "configs").to_pylist() if row["valid_to_offset"] is None]
    assert (valid["topic_id"], valid["value"]) == (TOPIC, "7")


def test_two_topics_of_one_name_end_one_by_one(tmp_path: Path) -> None:
    """No controller writes that; a history continues all the same."""
    both = frames([TopicRecord("t", ONE_UUID), TopicRecord("t", OTHER)])
    output = history_of(tmp_path, [both, frames([RemoveTopicRecord(ONE_UUID), RemoveTopicRecord(OTHER)])])
    ended = read_versions(output, "topics").column("valid_to_offset").to_pylist()
    assert ended == [2, 3]


def test_what_is_not_known_is_listed_in_the_order_of_the_log(tmp_path: Path) -> None:
    """In one batch as in several: merged, they have the same bytes."""
    values = [later_version(14), *frames([NEVER_SET[0][0]])]
    one = history_of(tmp_path / "one", [[*frames(of_all_kinds(0)), *values]])
    several = history_of(tmp_path / "several", [frames(of_all_kinds(0)), *([value] for value in values)])
    found = [read_versions(output, "not_known").column("subject").to_pylist() for output in (one, several)]
    assert found[0] == found[1]
