"""Typed tables: every type and version in its own table, every record in `records`, secrets in none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.client_metrics_config_data import (
    CLIENT_METRICS_CONFIG_KEYS,
)
from kraftctl.metadata.config_definitions.generated.group_config_data import GROUP_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS
from kraftctl_protocol.config_resource import BROKER, CLIENT_METRICS, GROUP, TOPIC
from kraftctl_protocol.control_record import encode_control_record
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record, encode_metadata_record
from kraftctl_protocol.readable_configs import readable_names
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch, read_batches
from kraftctl_protocol.secrets import REDACTED
from kraftctl_spark.rows.log_rows import rows_of_log, rows_of_snapshot
from kraftctl_spark.rows.metadata_rows import CONTROL_RECORD_CLASSES, TYPED_CLASSES, MetadataRows
from kraftctl_spark.rows.record_names import column_name, field_name
from kraftctl_spark.rows.redaction import is_redacted, redact
from kraftctl_spark.rows.tables import RECORDS, RowCounts, encode_tables, in_schema, table_schemas
from kraftctl_spark.rows.transactions import Transactions, mark_aborted, markers_of, resolve
from tests.spark.fake_controller import CLUSTER_ID
from tests.support.metadata_row import row_list

DATA = Path(__file__).parents[1] / "data" / "kafka-4.3.1"
NO_OP = encode_metadata_record(NoOpRecord(), 0)
ABORT_VALUE = encode_metadata_record(AbortTransactionRecord(reason="r"), 0)
DATA_RECORDS = [message for message in TYPED_CLASSES if message not in CONTROL_RECORD_CLASSES]


def rows_of(*values: bytes) -> MetadataRows:
    (rows,) = rows_of_log(read_batches(encode_batch(7, 3, 1234, list(values))), 0, 99)
    return rows


def rows_with(record: Message, version: int = 0) -> MetadataRows:
    return rows_of(encode_metadata_record(record, version))


def test_no_field_hides_where_a_record_stood() -> None:
    for schema in table_schemas().values():
        assert len(set(schema.names)) == len(schema.names), schema.names


@pytest.mark.parametrize("message", DATA_RECORDS, ids=lambda message: message.NAME)
def test_every_type_and_version_has_its_fields_in_its_table(message: type[Message]) -> None:
    for version in range(message.LOWEST_VERSION, message.HIGHEST_VERSION + 1):
        rows = rows_with(message(), version)
        (row,) = row_list(rows)
        tables = encode_tables(rows, CLUSTER_ID)
        (record,) = tables[RECORDS].to_pylist()
        assert (record["offset"], record["type"], record["record_version"]) == (7, message.NAME, version)
        assert record["payload"] == encode_metadata_record(message(), version)
        if not message.FIELDS:
            assert list(tables) == [RECORDS]
            continue
        (typed,) = tables[column_name(message)].to_pylist()
        assert row.value is not None
        for field in message.FIELDS:
            assert typed[field_name(field)] == row.value.get(field_name(field)), (version, field.name)
        assert (typed["offset"], typed["log_epoch"], typed["record_version"]) == (7, 3, version)


@pytest.mark.parametrize(
    "path", ["00000000000000001643-0000000001.checkpoint", "formatted/bootstrap.checkpoint"]
)
def test_checkpoints_that_kafka_wrote(path: str) -> None:
    batches = read_batches((DATA / path).read_bytes())
    (chunk,) = rows_of_snapshot(batches, 1643)
    rows = row_list(chunk)
    tables = encode_tables(chunk, CLUSTER_ID)
    records = tables[RECORDS]
    assert records.column("snapshot_index").to_pylist() == list(range(len(rows)))
    assert set(records.column("snapshot_end_offset").to_pylist()) == {1643}
    assert records.column("offset").null_count == len(rows)
    typed = sum(table.num_rows for name, table in tables.items() if name != RECORDS)
    assert typed == sum(1 for row in rows if row.column is not None) > 0
    by_name = {column_name(message): message.NAME for message in TYPED_CLASSES}
    for name, table in tables.items():
        if name != RECORDS:
            assert table.num_rows == sum(1 for row in rows if row.type == by_name[name])


@pytest.mark.parametrize(
    ("value", "counted"),
    [
        pytest.param(b"\x01\xc8\x01\x03abc", "unknown", id="unknown-type"),
        pytest.param(b"\x01\x05\x09abc", "unknown", id="unknown-version"),
        pytest.param(b"\x01\x14\x05", "unknown", id="version-of-a-type-without-fields"),
        pytest.param(b"\x01\x02\x00\xff", "undecodable", id="damaged"),
    ],
)
def test_what_is_not_understood_keeps_its_bytes_and_is_counted(value: bytes, counted: str) -> None:
    rows = rows_of(value)
    redact(rows)
    counts = RowCounts()
    counts.add(rows)
    assert counts.to_dict() == {
        "records": 1,
        "unknown": 0,
        "newer_fields": 0,
        "undecodable": 0,
        "redacted": 0,
        "aborted": 0,
        counted: 1,
    }
    tables = encode_tables(rows, CLUSTER_ID)
    assert list(tables) == [RECORDS]
    assert tables[RECORDS].column("payload").to_pylist() == [value]


@pytest.mark.parametrize(
    "record",
    [PartitionChangeRecord(leader=3), ConfigRecord(name="segment.ms", value="1"), RegisterBrokerRecord()],
    ids=lambda record: record.NAME,
)
def test_newer_tagged_fields_are_counted_and_kept(record: Message) -> None:
    version = record.LOWEST_VERSION
    without = encode_metadata_record(record, version)
    record.unknown_tagged_fields = [(99, b"new")]
    value = encode_metadata_record(record, version)
    rows = rows_of(value, without, value)
    counts = RowCounts()
    counts.add(rows)
    assert counts.to_dict()["newer_fields"] == 2
    assert encode_tables(rows, CLUSTER_ID)[RECORDS].column("payload").to_pylist() == [value, without, value]


def test_a_table_of_an_older_release() -> None:
    new = table_schemas()["partition_record"]
    tables = encode_tables(_partition_rows(), CLUSTER_ID)
    (typed,) = [table for name, table in tables.items() if name != RECORDS]
    old = typed.drop_columns(["directories"])
    read = in_schema(old, new)
    assert read.schema == new
    assert read.column("directories").to_pylist() == [None]
    assert read.column("partition_id").to_pylist() == [5]


def _partition_rows() -> MetadataRows:
    from kraftctl_protocol.generated.partition_record import PartitionRecord

    return rows_with(PartitionRecord(partition_id=5, replicas=[1], isr=[1], leader=1), 2)


SCRAM = UserScramCredentialRecord(
    name="alice",
    mechanism=1,
    salt=b"SALTSALT",
    stored_key=b"STOREDKEY",
    server_key=b"SERVERKEY",
    iterations=4096,
)


def _texts(tables: dict[str, pa.Table]) -> str:
    return repr([table.to_pylist() for table in tables.values()])


def test_scram_keys_are_nowhere() -> None:
    SCRAM.unknown_tagged_fields = [(77, b"LATERKEY")]
    rows = rows_with(SCRAM)
    redact(rows)
    tables = encode_tables(rows, CLUSTER_ID)
    for secret in ("SALTSALT", "STOREDKEY", "SERVERKEY", "LATERKEY"):
        assert secret not in _texts(tables)
    (typed,) = tables["user_scram_credential_record"].to_pylist()
    assert (typed["name"], typed["iterations"], typed["salt"], typed["redacted"]) == (
        "alice",
        4096,
        None,
        True,
    )
    (record,) = tables[RECORDS].to_pylist()
    kept = decode_metadata_record(record["payload"]).record
    assert kept == UserScramCredentialRecord(name="alice", mechanism=1, iterations=4096)


@pytest.mark.parametrize(
    ("resource_type", "name", "shown"),
    [
        pytest.param(TOPIC, "retention.ms", True, id="of-a-topic"),
        pytest.param(BROKER, "log.retention.ms", True, id="of-a-broker"),
        pytest.param(BROKER, "ssl.keystore.password", False, id="password"),
        pytest.param(BROKER, "listener.name.x.ssl.key.password", False, id="password-of-a-listener"),
        pytest.param(BROKER, "my.plugin.token", False, id="unknown"),
        pytest.param(TOPIC, "my.topic.thing", False, id="unknown-of-a-topic"),
        pytest.param(99, "retention.ms", False, id="unknown-resource"),
    ],
)
def test_configurations_that_are_not_known_to_be_harmless(resource_type: int, name: str, shown: bool) -> None:
    rows = rows_with(ConfigRecord(resource_type=resource_type, resource_name="r", name=name, value="VALUE77"))
    redact(rows)
    tables = encode_tables(rows, CLUSTER_ID)
    assert ("VALUE77" in _texts(tables)) is shown
    (typed,) = tables["config_record"].to_pylist()
    assert (typed["value"], typed["redacted"]) == (("VALUE77", False) if shown else (REDACTED, True))
    (record,) = tables[RECORDS].to_pylist()
    kept = decode_metadata_record(record["payload"]).record
    assert isinstance(kept, ConfigRecord)
    assert kept.value == typed["value"]


def test_the_removal_of_a_secret_stays_a_removal() -> None:
    rows = rows_with(ConfigRecord(resource_type=BROKER, name="ssl.key.password", value=None))
    redact(rows)
    (row,) = row_list(rows)
    assert row.value is not None
    assert (row.value["value"], row.redacted) == (None, False)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(b"\x01\x0b\x07secret", id="later-version-of-scram"),
        pytest.param(b"\x01\x04\x07secret", id="later-version-of-a-configuration"),
        pytest.param(b"\x01\x0b\x00secret", id="damaged-scram"),
        pytest.param(b"\x02secret", id="frame-that-cannot-be-read"),
        pytest.param(b"", id="empty"),
    ],
)
def test_bytes_that_may_hide_secrets_are_withheld(value: bytes) -> None:
    rows = rows_of(value)
    redact(rows)
    assert rows.redacted == {0: None}


@pytest.mark.parametrize("value", [REDACTED, f"{REDACTED} hunter2", f"{REDACTED} 0123456789abcdef"])
@pytest.mark.parametrize("key", [None, b"0123456789abcdef"], ids=["without-a-key", "with-a-key"])
def test_a_secret_that_looks_redacted_is_redacted(value: str, key: bytes | None) -> None:
    """It neither stays in clear nor passes for a digest."""
    rows = rows_with(ConfigRecord(BROKER, "1", "ssl.keystore.password", value))
    redact(rows, key)
    tables = encode_tables(rows, CLUSTER_ID)
    (typed,) = tables["config_record"].to_pylist()
    assert (typed["value"] == REDACTED) is (key is None)
    assert is_redacted(typed["value"])
    (record,) = tables[RECORDS].to_pylist()
    kept = decode_metadata_record(record["payload"]).record
    assert isinstance(kept, ConfigRecord)
    assert kept.value == typed["value"]
    if value != REDACTED:
        assert value.removeprefix(REDACTED) not in _texts(tables)


@pytest.mark.parametrize(
    ("value", "kept"),
    [(REDACTED, True), (f"{REDACTED} 0123456789abcdef", True), (f"{REDACTED} hunter2", False)],
)
def test_what_replaced_a_secret_before_is_kept(value: str, kept: bool) -> None:
    rows = rows_with(ConfigRecord(BROKER, "1", "ssl.keystore.password", value))
    redact(rows, before={0})
    (typed,) = encode_tables(rows, CLUSTER_ID)["config_record"].to_pylist()
    assert typed["value"] == (value if kept else REDACTED)


def test_the_list_of_harmless_configurations_is_that_of_the_controller() -> None:
    definitions: dict[int, dict[str, Any]] = {
        TOPIC: TOPIC_CONFIG_KEYS,
        BROKER: BROKER_CONFIG_KEYS,
        CLIENT_METRICS: CLIENT_METRICS_CONFIG_KEYS,
        GROUP: GROUP_CONFIG_KEYS,
    }
    for resource_type, keys in definitions.items():
        assert readable_names(resource_type) == {name for name, key in keys.items() if not key.sensitive}


def test_tagged_fields_of_a_later_release_beside_a_secret_are_withheld() -> None:
    record = ConfigRecord(resource_type=BROKER, name="ssl.key.password", value="v")
    record.unknown_tagged_fields = [(9, b"SECRETTOO")]
    for value in ("v", None):
        record.value = value
        rows = rows_with(record)
        redact(rows)
        assert list(rows.redacted) == [0]
        assert "SECRETTOO" not in str(row_list(rows))
        assert decode_metadata_record(rows.redacted[0] or b"").record.value == (value and REDACTED)


@pytest.mark.parametrize("time_ms", [2**63 - 1, -(2**63), 253_402_300_800_000, -62_135_596_800_001])
def test_what_is_no_date_is_null(time_ms: int) -> None:
    """A leader's clock can be wrong by any amount; this must not stop the export or its readers."""
    batches = [encode_batch(offset, 1, time, [NO_OP]) for offset, time in enumerate([5, time_ms, 7])]
    (rows,) = rows_of_log(read_batches(b"".join(batches)), 0, 99)
    times = encode_tables(rows, CLUSTER_ID)[RECORDS].column("timestamp").to_pylist()
    assert [time and time.microsecond for time in times] == [5000, None, 7000]


BEGIN, END, ABORT = "BeginTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord"


@pytest.mark.parametrize(
    ("markers", "expected"),
    [
        pytest.param([], Transactions(), id="none"),
        pytest.param([(3, BEGIN), (9, END)], Transactions(), id="ended"),
        pytest.param([(3, BEGIN), (9, ABORT)], Transactions(((4, 8),)), id="aborted"),
        pytest.param([(9, ABORT), (3, BEGIN)], Transactions(((4, 8),)), id="in-any-order"),
        pytest.param([(3, BEGIN), (4, ABORT)], Transactions(), id="aborted-empty"),
        pytest.param([(3, BEGIN)], Transactions((), 3), id="open"),
        pytest.param([(1, BEGIN), (3, ABORT), (5, BEGIN)], Transactions(((2, 2),), 5), id="aborted-and-open"),
        pytest.param([(4, ABORT)], Transactions(((0, 3),)), id="begun-before"),
    ],
)
def test_transactions(markers: list[tuple[int, str]], expected: Transactions) -> None:
    assert resolve(0, markers) == expected


def test_a_transaction_begins_with_a_record_of_any_version() -> None:
    """Otherwise the abort would abort everything since the start."""
    values = [NO_OP, bytes([1, BeginTransactionRecord.API_KEY, 99]), NO_OP, ABORT_VALUE]
    rows = rows_of(*values)
    assert resolve(7, markers_of(rows)) == Transactions(((9, 9),))


def test_records_of_the_raft_layer_are_never_aborted() -> None:
    leader = encode_control_record(LeaderChangeMessage(version=0, leader_id=3))
    data = encode_batch(7, 3, 1234, [NO_OP] * 2) + encode_control_batch(9, 4, 1234, [leader])
    (rows,) = rows_of_log(read_batches(data), 0, 99)
    mark_aborted(rows, ())
    assert rows.aborted == set()
    mark_aborted(rows, ((8, 9), (1, 6)))
    assert rows.aborted == {1}
