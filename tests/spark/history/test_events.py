"""The table of events: a short story, and generated logs whose events a plain loop over the records knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_protocol.uuids import ONE_UUID, uuid_to_string
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.reader import read_versions
from tests.spark.fake_controller import CLUSTER_ID, FakeController, FakeQuorum
from tests.spark.history.test_versions import Tables, gappy, history, whole
from tests.spark.history_truth import HistoryTruth
from tests.spark.metadata_histories import History
from tests.spark.typed_export import exporting

__all__ = ["gappy", "history", "whole"]

Row = dict[str, Any]


def events(output: Path) -> list[Row]:
    rows: list[Row] = read_versions(output, "events").to_pylist()
    return rows


STORY: list[tuple[list[Message], list[tuple[str, str, str | None, str | None]]]] = [
    (
        [RegisterBrokerRecord(broker_id=1, broker_epoch=7, fenced=True)],
        [("broker registered", "broker 1", None, "fenced")],
    ),
    (
        [BrokerRegistrationChangeRecord(1, 7, fenced=-1)],
        [("broker unfenced", "broker 1", "fenced", "unfenced")],
    ),
    (
        [TopicRecord("t", ONE_UUID), PartitionRecord(0, ONE_UUID, [1, 2, 3], [1, 2, 3], leader=1)],
        [("topic created", "t", None, "t"), ("partition created", "t-0", None, "[1, 2, 3]")],
    ),
    (
        [PartitionChangeRecord(0, ONE_UUID, isr=[2, 3], leader=2)],
        [("leader elected", "t-0", "1", "2"), ("ISR shrank", "t-0", "[1, 2, 3]", "[2, 3]")],
    ),
    (
        [PartitionChangeRecord(0, ONE_UUID, isr=[3, 2])],
        [("ISR reordered", "t-0", "[2, 3]", "[3, 2]")],
    ),
    ([PartitionChangeRecord(0, ONE_UUID, leader=2)], [("leader epoch raised", "t-0", "0", "1")]),
    (
        [PartitionChangeRecord(0, ONE_UUID, isr=[1, 2, 3])],
        [("ISR grew", "t-0", "[3, 2]", "[1, 2, 3]")],
    ),
    ([PartitionChangeRecord(0, ONE_UUID, leader=-1)], [("leader lost", "t-0", "2", "-1")]),
    (
        [PartitionChangeRecord(0, ONE_UUID, isr=[1], leader=1, leader_recovery_state=1)],
        [("unclean election", "t-0", "-1", "1"), ("ISR shrank", "t-0", "[1, 2, 3]", "[1]")],
    ),
    ([PartitionChangeRecord(0, ONE_UUID, leader=-1)], [("leader lost", "t-0", "1", "-1")]),
    (
        [PartitionChangeRecord(0, ONE_UUID, leader=1)],
        [("leader elected", "t-0", "-1", "1")],
    ),
    (
        [PartitionChangeRecord(0, ONE_UUID, isr=[3], leader=3)],
        [("unclean election", "t-0", "1", "3"), ("ISR shrank and grew", "t-0", "[1]", "[3]")],
    ),
    (
        [PartitionChangeRecord(0, ONE_UUID, eligible_leader_replicas=[2])],
        [("ELR changed", "t-0", "[]", "[2]")],
    ),
    (
        [PartitionChangeRecord(0, ONE_UUID, isr=[2], leader=2, eligible_leader_replicas=[])],
        [
            ("leader elected", "t-0", "3", "2"),
            ("ISR shrank and grew", "t-0", "[3]", "[2]"),
            ("ELR changed", "t-0", "[2]", "[]"),
        ],
    ),
    ([PartitionChangeRecord(0, ONE_UUID, leader_recovery_state=0)], [("recovered", "t-0", None, None)]),
    (
        [PartitionChangeRecord(0, ONE_UUID, replicas=[1, 2, 3, 4], adding_replicas=[4])],
        [
            ("replicas changed", "t-0", "[1, 2, 3]", "[1, 2, 3, 4]"),
            ("reassignment begun", "t-0", "[1, 2, 3]", "[1, 2, 3, 4]"),
        ],
    ),
    (
        [ConfigRecord(2, "t", "retention.ms", "1"), ConfigRecord(2, "t", "retention.ms", "2")],
        [
            ("config set", "TOPIC t retention.ms", None, "1"),
            ("config changed", "TOPIC t retention.ms", "1", "2"),
        ],
    ),
    ([ConfigRecord(2, "t", "retention.ms", "2")], []),
    (
        [BeginTransactionRecord(), ConfigRecord(2, "t", "retention.ms", "3"), AbortTransactionRecord()],
        [],
    ),
    (
        [ClientQuotaRecord([EntityData("user", None)], "producer_byte_rate", 10.0)],
        [("quota set", "user=<default> producer_byte_rate", None, "10.0")],
    ),
    (
        [AccessControlEntryRecord(ONE_UUID, 2, "t", 3, "User:a", "*", 3, 3)],
        [("ACL added", "User:a", None, "ALLOW READ on TOPIC LITERAL t for User:a from *")],
    ),
    (
        [FeatureLevelRecord("metadata.version", 25), FeatureLevelRecord("metadata.version", 26)],
        [
            ("feature set", "metadata.version", None, "25"),
            ("feature changed", "metadata.version", "25", "26"),
        ],
    ),
    (
        [RemoveTopicRecord(ONE_UUID)],
        [
            ("partition deleted", "t-0", "[1, 2, 3, 4]", None),
            ("config removed", "TOPIC t retention.ms", "2", None),
            ("topic deleted", "t", "t", None),
        ],
    ),
]
"""What each batch of records does."""


def test_what_happened_in_words(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> None:
    expected: list[tuple[int, tuple[str, str, str | None, str | None]]] = []
    end = 0
    for records, happened in STORY:
        values = [encode_metadata_record(record, record.HIGHEST_VERSION) for record in records]
        quorum.append(encode_batch(end, 1, 1000 + end, values))
        expected += [(end, one) for one in happened]
        end += len(records)
    with exporting(tmp_path / "tables", controller.endpoint, include_secrets=True) as exporter:
        exporter.export_to(end, 1)
    HistoryTables(tmp_path / "tables", tmp_path / "history").catch_up()
    found = events(tmp_path / "history")
    assert [
        (row["batch_offset"], (row["kind"], row["subject"], row["before"], row["after"])) for row in found
    ] == expected
    assert {row["cluster_id"] for row in found} == {CLUSTER_ID}
    ids = {(row["topic_id"], row["partition_id"]) for row in found if row["subject"] == "t-0"}
    assert ids == {(uuid_to_string(ONE_UUID), 0)}
    assert {row["broker_id"] for row in found if row["subject"] == "broker 1"} == {1}


def place(row: Row, kind: str) -> tuple[Any, ...]:
    return row["offset"], row["topic_id"], row["partition_id"], kind


def test_events_are_those_of_a_loop_over_the_records(whole: Tables, history: History) -> None:
    truth = HistoryTruth(history.events(), history.times[history.end - 1]).rows
    found = events(whole.versions)
    assert [row["offset"] for row in found] == sorted(row["offset"] for row in found)
    assert not {row["offset"] for row in found} & history.aborted
    leaders = [row for row in found if row["kind"] in ("leader elected", "unclean election")]
    assert sorted((*place(row, ""), int(row["before"]), int(row["after"])) for row in leaders) == sorted(
        (*place(row, ""), row["old_leader"], row["new_leader"]) for row in truth["elections"]
    )
    unclean = {place(row, "") for row in leaders if row["kind"] == "unclean election"}
    assert unclean == {place(row, "") for row in truth["elections"] if row["kind"] == "unclean"}
    isrs = ("ISR shrank", "ISR grew")
    changes = [row for row in found if row["kind"] in isrs]
    assert sorted(
        (*place(row, row["kind"]), *map(json.loads, (row["before"], row["after"]))) for row in changes
    ) == sorted(
        (*place(row, "ISR shrank" if row["removed"] else "ISR grew"), row["old_isr"], row["new_isr"])
        for row in truth["isr_changes"]
        if bool(row["removed"]) != bool(row["added"])
    )
    configs = [row for row in found if row["history_table"] == "configs"]
    assert sorted(
        (row["offset"], row["subject"], row["before"] or "", row["after"] or "") for row in configs
    ) == sorted(
        (
            row["offset"],
            " ".join(part for part in (row["resource_type"], row["resource_name"], row["name"]) if part),
            row["old_value"] or "",
            row["new_value"] or "",
        )
        for row in truth["config_audit"]
        if row["old_value"] != row["new_value"]
    )


def test_gaps_and_snapshots_are_events(gappy: Tables, history: History) -> None:
    marks = [row for row in events(gappy.versions) if row["history_table"] == "known_ranges"]
    first, second, third = gappy.known
    assert [(row["kind"], row["offset"]) for row in marks] == [
        ("gap begins", first.stop),
        ("snapshot", second.start),
        ("gap begins", second.stop),
        ("snapshot", third.start),
    ]
    assert marks[1]["after"].startswith(f"of everything before offset {second.start + 1};")
    assert [row["time"].timestamp() * 1000 for row in marks[::2]] == [
        history.times[first.stop - 1],
        history.times[second.stop - 1],
    ]
    for row in events(gappy.versions):
        assert row in marks or any(row["offset"] in part for part in gappy.known)
        assert row in marks or row["offset"] not in (second.start, third.start)
