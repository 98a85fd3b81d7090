"""A secret that is set again is seen: as another one or as the same one, where there is a key for digests."""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import Any

import pytest

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_protocol.secrets import REDACTED
from kraftctl_protocol.uuids import ONE_UUID
from kraftctl_spark import cli
from kraftctl_spark.commands.run import add_arguments
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.log.client_config import ObserverConfig
from kraftctl_spark.log.log_location import QuorumLocation
from kraftctl_spark.report.queries.fetch import fetch
from kraftctl_spark.rows.redaction import is_redacted
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.export_tasks import ExportTask, TaskReport, TaskSettings, run_task
from kraftctl_spark.tables.exporter import Exporter
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.spark.earlier_release import forget
from tests.spark.fake_controller import CLUSTER_ID, FakeController, FakeQuorum
from tests.spark.history.asked import in_duckdb

KEY = b"0123456789abcdef"


def password(value: str | None, topic: str = "t") -> ConfigRecord:
    return ConfigRecord(2, topic, "plugin.password", value)


def scram(iterations: int) -> UserScramCredentialRecord:
    return UserScramCredentialRecord("u", 1, b"salt", b"S3CR3T", b"server", iterations)


RECORDS: list[Message] = [
    TopicRecord("t", ONE_UUID),
    password("one"),
    password("two"),
    password("two"),
    password("two", "other"),
    ConfigRecord(2, "t", "retention.ms", "7"),
    ConfigRecord(2, "t", "retention.ms", "7"),
    scram(4096),
    scram(4096),
    scram(8192),
    password(None),
    NoOpRecord(),
]


BATCH = 5


def exported(directory: Path, key: bytes | None, records: list[Message] = RECORDS) -> Path:
    key_file = None
    if key is not None:
        key_file = directory / "key"
        key_file.write_bytes(key)
    quorum = FakeQuorum()
    for first in range(0, len(records), BATCH):
        values = [encode_metadata_record(record, 0) for record in records[first : first + BATCH]]
        quorum.append(encode_batch(first, 1, 1000 + first, values))
    controller = FakeController(quorum, 1)
    location = QuorumLocation((controller.endpoint,), ObserverConfig(request_timeout_ms=5000))
    settings = TaskSettings(directory / "raw", location, CLUSTER_ID, digest_key=key_file)

    def run_tasks(tasks: list[ExportTask]) -> list[TaskReport]:
        return [run_task(settings, task) for task in tasks]

    output, reader = Output(directory / "raw"), location.open(CLUSTER_ID)
    try:
        with output.locked():
            Exporter(output, settings, reader, run_tasks).export_to(len(records), 1)
    finally:
        reader.close()
        controller.close()
    HistoryTables(directory / "raw", directory / "history").catch_up()
    return directory / "history"


def kinds(output: Path, table: str) -> list[tuple[Any, ...]]:
    rows = read_versions(output, "events").to_pylist()
    return [(row["offset"], row["kind"]) for row in rows if row["history_table"] == table]


SCRAM = [(7, "SCRAM credential added"), (8, "SCRAM credential set again"), (9, "SCRAM credential changed")]


def test_without_a_key_a_hidden_value_that_is_set_again_is_an_event_and_a_version(tmp_path: Path) -> None:
    output = exported(tmp_path, None)
    assert kinds(output, "configs") == [
        (1, "config set"),
        (2, "config set again"),
        (3, "config set again"),
        (4, "config set"),
        (5, "config set"),
        (10, "config removed"),
    ]
    assert kinds(output, "scram_credentials") == SCRAM
    began = read_versions(output, "configs").column("valid_from_offset").to_pylist()
    assert sorted(began) == [1, 2, 3, 4, 5]


def test_with_a_key_another_value_differs_from_the_same_one(tmp_path: Path) -> None:
    output = exported(tmp_path, KEY)
    found = kinds(output, "configs")
    assert found[1:3] == [(2, "config changed"), (3, "config set again")]
    values = read_versions(output, "configs").to_pylist()
    hidden = {row["valid_from_offset"]: row["value"] for row in values if row["name"] == "plugin.password"}
    assert hidden[2] == hidden[3]
    assert len({hidden[1], hidden[2], hidden[4]}) == 3, "the same password elsewhere has another digest"
    for path in (tmp_path / "raw").rglob("*.parquet"):
        content = path.read_bytes()
        assert KEY not in content
        assert b"S3CR3T" not in content


@pytest.mark.parametrize("reason", ["unknown type", "new fields"])
def test_a_digest_stays_when_its_record_is_decoded_again(tmp_path: Path, reason: str) -> None:
    exported(tmp_path, KEY)
    raw = tmp_path / "raw"
    before = read_table(raw, "config_record").to_pylist()
    assert sum(is_redacted(row["value"] or "") and len(row["value"]) > len(REDACTED) for row in before) == 4
    forget(raw, ConfigRecord, reason)
    with Output(raw).compacting(wait=True):
        compact(Output(raw), grace_ms=0)
    assert read_table(raw, "config_record").to_pylist() == before


def test_audits_of_sql_page_and_events_are_the_same(tmp_path: Path) -> None:
    output = exported(tmp_path, None)
    contents = fetch(tmp_path / "raw", output, None, None)
    with in_duckdb(output) as asked:
        audit, security = asked.rows("config_audit"), asked.rows("security_audit")
    assert len(audit) == contents.config_changes.total == len(kinds(output, "configs"))
    assert [row["offset"] for row in audit] == [offset for offset, _ in kinds(output, "configs")]
    assert len(security) == contents.scram.changes.total == len(SCRAM)
    marks = sum(mark.events for mark in contents.timeline if mark.row == "configurations")
    assert marks == len(audit)


def many(count: int) -> list[Message]:
    """Configurations of topics that come and go: many are set again, to the same value or to another one."""
    rng = random.Random(7)
    found: list[Message] = []
    living: dict[int, bytes] = {}
    while len(found) < count:
        number = rng.randrange(50)
        name = f"topic-{number}"
        if number not in living:
            living[number] = (len(found) + 1).to_bytes(16, "big")
            found.append(TopicRecord(name, living[number]))
        elif rng.random() < 0.01:
            found.append(RemoveTopicRecord(living.pop(number)))
        else:
            key = rng.choice(("plugin.password", "retention.ms", "retention.bytes"))
            value = None if rng.random() < 0.1 else str(rng.randrange(4))
            found.append(ConfigRecord(2, name, key, value))
    return found


def test_audits_have_the_same_counts_at_scale(tmp_path: Path) -> None:
    output = exported(tmp_path, None, many(20_000))
    contents = fetch(tmp_path / "raw", output, None, None)
    with in_duckdb(output) as asked:
        audit = asked.ask("config_audit").num_rows
    events = kinds(output, "configs")
    again = sum(kind == "config set again" for _, kind in events)
    marks = sum(mark.events for mark in contents.timeline if mark.row == "configurations")
    assert audit == len(events) == contents.config_changes.total == marks
    assert audit > 10_000
    assert again > 1_000


def test_a_key_that_is_no_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportRefusedError, match="needs 16 random ones"):
        exported(tmp_path, b"short")
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    key = tmp_path / "raw" / "key"
    flags = ["--bootstrap-controllers", "localhost:1", "--output", str(key.parent), "--digest-key", str(key)]
    assert cli.main(["run", *flags]) == 2
