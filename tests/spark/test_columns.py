"""Columns of many rows equal the columns of each single record, for any log."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kraftctl_protocol.control_record import encode_control_record
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import (
    Record,
    RecordBatch,
    encode_batch,
    encode_control_batch,
    read_batches,
)
from kraftctl_spark.datasource.wide_rows import encode_wide_rows
from kraftctl_spark.rows.log_rows import rows_of_log, rows_of_snapshot
from kraftctl_spark.rows.metadata_rows import CONTROL_RECORD_CLASSES, TYPED_CLASSES, MetadataRows
from kraftctl_spark.rows.record_names import column_name
from kraftctl_spark.rows.redaction import redact
from kraftctl_spark.rows.schema import COMMON_FIELDS
from kraftctl_spark.rows.tables import encode_tables, table_schemas
from kraftctl_spark.rows.transactions import mark_aborted
from tests.spark.fake_controller import CLUSTER_ID
from tests.support.effort import seeds
from tests.support.metadata_row import MetadataRow, kinds_of, row_list
from tests.support.reference_rows import reference_rows, table_rows
from tests.support.wire.random_messages import RandomMessages

SEEDS = 8
RECORDS = 400
WORDS = ["", "retention.ms", "my.plugin.token", "ünï", "x" * 300]
DATA_CLASSES = [message for message in TYPED_CLASSES if message not in CONTROL_RECORD_CLASSES]


class RandomLog:
    """Random batches: all types in all versions, unknown ones, damaged ones, control records.

    Some have timestamps of their own for each record; after some, offsets are missing.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        ids = [self.random.randbytes(16) for _ in range(5)]
        numbers = [-1, 0, 1, 2, 4, 127]
        self._messages = RandomMessages(self.random, WORDS, ids, numbers, {})

    def batches(self) -> list[RecordBatch]:
        encoded = []
        offset = epoch = 0
        while offset < RECORDS:
            count = self.random.randint(1, 30)
            epoch += self.random.random() < 0.3
            timestamp_ms = self.random.randrange(1 << 41)
            if self.random.random() < 0.2:
                records = [self._control() for _ in range(count)]
                encoded.append(encode_control_batch(offset, epoch, timestamp_ms, records))
            else:
                values = [self._value() for _ in range(count)]
                encoded.append(encode_batch(offset, epoch, timestamp_ms, values))
            offset += count + (self.random.random() < 0.1) * self.random.randint(1, 5)
        return [self._with_own_times(batch) for batch in read_batches(b"".join(encoded))]

    def _with_own_times(self, batch: RecordBatch) -> RecordBatch:
        if self.random.random() < 0.7:
            return batch
        start_ms = self.random.randrange(1 << 41)
        records = [
            Record(one.offset, start_ms + self.random.choice((-1, 0, 0, 0, 1)), one.key, one.value)
            for one in batch.records
        ]
        return RecordBatch(batch.header, records)

    def _value(self) -> bytes:
        chance = self.random.random()
        if chance < 0.05:
            return bytes([1, self.random.choice((29, 60, 100)), 0]) + self.random.randbytes(3)
        if chance < 0.08:
            return bytes([1, self.random.choice((2, 4, 5, 11, 20)), 99]) + self.random.randbytes(3)
        message = self.random.choice(DATA_CLASSES)
        version = self.random.randint(message.LOWEST_VERSION, message.HIGHEST_VERSION)
        record = self._messages.message(message, version)
        _make_encodable(record, message, version)
        value = encode_metadata_record(record, version)
        return value[: self.random.randrange(len(value))] if chance < 0.15 else value

    def _control(self) -> tuple[int, bytes]:
        if self.random.random() < 0.2:
            return self.random.choice(((99, b"\0\0\0"), (2, b"\0"), (5, b"")))
        message = self.random.choice(CONTROL_RECORD_CLASSES)
        version = self.random.randint(message.LOWEST_VERSION, message.HIGHEST_VERSION)
        record = self._messages.message(message, version)
        record.version = version
        return encode_control_record(record)


def _make_encodable(record: Any, message: type[Message], version: int) -> None:
    """A record does not keep fields that its version lacks; random messages do not set those."""
    for field in message.FIELDS:
        assert field.in_version(version) or field.is_default(getattr(record, field.name))


def _tables_as_rows(rows: MetadataRows) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for name, table in encode_tables(rows, CLUSTER_ID).items():
        assert table.schema.equals(table_schemas()[name])
        table.validate(full=True)
        found[name] = [_milliseconds(row) for row in table.to_pylist()]
    return found


def _milliseconds(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "timestamp": round(row["timestamp"].timestamp() * 1000)}


def _expected_tables(rows: list[MetadataRow]) -> dict[str, list[dict[str, Any]]]:
    expected: dict[str, list[dict[str, Any]]] = {}
    columns = {name: schema.names for name, schema in table_schemas().items()}
    for name, row in table_rows(rows, columns, CLUSTER_ID):
        expected.setdefault(name, []).append(row)
    return expected


def _with_all_fields(message: type[Message], value: dict[str, Any] | None) -> dict[str, Any] | None:
    """All fields, including those that the version of the record lacks, and those of nested structs."""
    if value is None:
        return None
    return {
        field.name.rstrip("_"): _whole(field, value.get(field.name.rstrip("_"))) for field in message.FIELDS
    }


def _whole(field: Field, value: Any) -> Any:
    if field.struct is None or value is None:
        return value
    if isinstance(value, list):
        return [_with_all_fields(field.struct, element) for element in value]
    return _with_all_fields(field.struct, value)


def _complete(rows: list[MetadataRow]) -> list[MetadataRow]:
    classes = {column_name(message): message for message in TYPED_CLASSES}
    for row in rows:
        if row.column is not None:
            row.value = _with_all_fields(classes[row.column], row.value)
    return rows


@pytest.mark.parametrize("seed", seeds(SEEDS))
@pytest.mark.parametrize("secrets", [False, True], ids=["redacted", "with-secrets"])
@pytest.mark.parametrize("snapshot", [None, 5000], ids=["log", "snapshot"])
def test_columns_equal_rows_made_one_by_one(seed: int, secrets: bool, snapshot: int | None) -> None:
    log = RandomLog(seed)
    batches = log.batches()
    first = log.random.randrange(RECORDS)
    aborted = ((first, first + 40), (RECORDS - 5, RECORDS))
    expected = reference_rows(batches, snapshot, aborted, secrets)
    start, end = 0, 9999
    if snapshot is None:
        # A range begins and ends anywhere in a batch.
        start, end = log.random.randrange(60), RECORDS - log.random.randrange(60)
        expected = [row for row in expected if row.offset is not None and start <= row.offset < end]
    (rows,) = rows_of_log(batches, start, end) if snapshot is None else rows_of_snapshot(batches, snapshot)
    if snapshot is None:
        mark_aborted(rows, aborted)
    if not secrets:
        redact(rows)
    assert repr(row_list(rows)) == repr(expected), "as text, where one NaN is like the other"
    expected = _complete(expected)
    assert repr(_tables_as_rows(rows)) == repr(_sorted_like(rows, _expected_tables(expected)))
    wide = encode_wide_rows(rows, CLUSTER_ID)
    wide.validate(full=True)
    names = wide.schema.names[len(COMMON_FIELDS) :]
    structs = [{name: row[name] for name in names if row[name] is not None} for row in wide.to_pylist()]
    assert repr(structs) == repr([{} if row.column is None else {row.column: row.value} for row in expected])


def _sorted_like(rows: MetadataRows, tables: dict[str, Any]) -> dict[str, Any]:
    """Values in the order of tables and columns."""
    return {name: [dict(row) for row in tables[name]] for name in encode_tables(rows, CLUSTER_ID)}


def test_the_random_log_has_everything_in_it() -> None:
    """Otherwise the comparison would prove little."""
    kinds = {kind for seed in range(SEEDS) for kind in _kinds(seed)}
    versions = {
        (message.NAME, version)
        for message in TYPED_CLASSES
        for version in range(message.LOWEST_VERSION, message.HIGHEST_VERSION + 1)
    }
    assert versions <= {(name, version) for name, version, understood in kinds if understood}
    assert {"Unknown", "Undecodable"} <= {name for name, _, understood in kinds if not understood}


def _kinds(seed: int) -> set[tuple[str, int | None, bool]]:
    (rows,) = rows_of_log(RandomLog(seed).batches(), 0, 9999)
    return {(kind.type, kind.version, kind.message is not None) for kind in kinds_of(rows)}
