"""The table's columns, and rows as Arrow record batches."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.pandas.types import to_arrow_schema

from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.record_batch import encode_batch, read_batches
from kraftctl_spark.datasource.spark_schema import spark_schema
from kraftctl_spark.datasource.wide_rows import encode_wide_rows
from kraftctl_spark.rows.log_rows import rows_of_log, rows_of_snapshot
from kraftctl_spark.rows.metadata_rows import TYPED_CLASSES, MetadataRows
from kraftctl_spark.rows.record_names import column_name
from kraftctl_spark.rows.schema import arrow_schema, typed_columns
from tests.spark.fake_controller import CLUSTER_ID
from tests.support.metadata_row import row_list

CHECKPOINT = Path(__file__).parents[1] / "data" / "kafka-4.3.1" / "00000000000000001643-0000000001.checkpoint"


def _snapshot_rows() -> MetadataRows:
    (rows,) = rows_of_snapshot(read_batches(CHECKPOINT.read_bytes()), 1643)
    return rows


def test_spark_and_arrow_agree_exactly() -> None:
    """Spark refuses a record batch that differs from its own translation in type, order or nullability."""
    assert to_arrow_schema(spark_schema(), timezone="UTC").equals(arrow_schema())


def test_every_record_type_has_a_column_with_every_field() -> None:
    schema = arrow_schema()
    assert len(typed_columns()) == len([message for message in TYPED_CLASSES if message.FIELDS])
    for message in typed_columns():
        assert schema.field(column_name(message)).type.num_fields == len(message.FIELDS)
    assert schema.field("partition_change_record").type.field("isr").type == pa.list_(
        pa.field("element", pa.int32())
    )


def test_rows_come_back_as_they_were() -> None:
    rows = _snapshot_rows()
    batch = encode_wide_rows(rows, CLUSTER_ID)
    assert batch.schema == arrow_schema()
    for row, read in zip(row_list(rows), batch.to_pylist(), strict=True):
        assert (read["type"], read["version"], read["payload"]) == (row.type, row.version, row.payload)
        assert read["cluster_id"] == CLUSTER_ID
        assert read["timestamp"].timestamp() * 1000 == pytest.approx(row.timestamp_ms)
        structs = {name: value for name, value in read.items() if isinstance(value, dict)}
        assert list(structs) == ([] if row.column is None else [row.column])
        for value in structs.values():
            assert {name: got for name, got in value.items() if got is not None} == {
                name: got for name, got in (row.value or {}).items() if got is not None
            }


def test_rows_of_one_type_only_and_no_rows() -> None:
    rows = MetadataRows(1643)
    snapshot = read_batches(CHECKPOINT.read_bytes())
    values = [record.value or b"" for batch in snapshot for record in batch.records]
    partitions = [value for value in values if value.startswith(b"\x01\x03")]
    for batch in read_batches(encode_batch(0, 1, 1, partitions)):
        rows.add(batch)
    assert {row.type for row in row_list(rows)} == {"PartitionRecord"}
    assert encode_wide_rows(rows, CLUSTER_ID).column("partition_record").null_count == 0
    assert encode_wide_rows(MetadataRows(), CLUSTER_ID).num_rows == 0


def test_parquet_holds_every_column(tmp_path: Path) -> None:
    table = pa.Table.from_batches([encode_wide_rows(_snapshot_rows(), CLUSTER_ID)])
    pq.write_table(table, tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet").equals(table)


@pytest.mark.parametrize(
    ("message", "version"),
    [
        pytest.param(message, version, id=f"{message.NAME}-v{version}")
        for message in TYPED_CLASSES
        if message.API_KEY >= 0
        for version in range(message.LOWEST_VERSION, message.HIGHEST_VERSION + 1)
    ],
)
def test_every_record_type_in_every_version_fits_its_column(message: type[Message], version: int) -> None:
    record = message(
        **{field.name: _sample(field, version) for field in message.FIELDS if field.in_version(version)}
    )
    value = bytes([1, message.API_KEY, version]) + record.encode(version)
    (batch,) = read_batches(encode_batch(1, 1, 1, [value]))
    (rows,) = rows_of_log([batch], 0, 9)
    (row,) = row_list(rows)
    assert (row.type, row.version) == (message.NAME, version)
    struct = encode_wide_rows(rows, CLUSTER_ID).to_pylist()[0].get(column_name(message))
    assert (struct is not None) == bool(message.FIELDS)
    for field in message.FIELDS:
        assert (struct[field.name] is not None) == field.in_version(version), field


def _sample(field: Field, version: int) -> object:
    if field.type.startswith("[]"):
        return [_sample_element(field.type[2:], field, version)]
    return _sample_element(field.type, field, version)


def _sample_element(kind: str, field: Field, version: int) -> object:
    if field.struct is not None:
        names = {
            inner.name: _sample(inner, version) for inner in field.struct.FIELDS if inner.in_version(version)
        }
        return field.struct(**names)
    simple = {"bool": True, "float64": 1.5, "string": "text", "uuid": b"0123456789abcdef", "bytes": b"\0raw"}
    return simple.get(kind, 1)
