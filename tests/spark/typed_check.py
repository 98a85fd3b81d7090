"""Compares typed tables with the output of kafka-dump-log for the exported log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kraftctl.dev.kafka_distribution import DEFAULT_KAFKA_VERSION
from kraftctl_spark.rows.record_names import column_name
from kraftctl_spark.rows.tables import RECORDS, table_schemas
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.support.parquet_check import CLASSES, DIFFERENCES_MAX, DumpedRecord, expected_struct, read_dump

PLACE = ("offset", "log_epoch", "timestamp_ms", "record_version", "aborted", "redacted")


def compare_tables_with_dump(
    directory: Path, log_dir: Path, upto_offset: int, release: str = DEFAULT_KAFKA_VERSION
) -> set[str]:
    """The types that were compared, field by field; AssertionError that names the first differences.

    For tables with their secrets left in. Every offset below `upto_offset` must be in `records` exactly once,
    and in the table of its type if there is one.
    """
    dumped = [record for record in read_dump(log_dir, release) if record.offset < upto_offset]
    assert [record.offset for record in dumped] == list(range(upto_offset))
    return compare_records(directory, dumped)


def compare_export_with_dump(directory: Path, log_dir: Path) -> int:
    """Compares everything that was exported; returns where the tables end."""
    end = Output(directory).position().offset
    compare_tables_with_dump(directory, log_dir, end)
    return end


def compare_records(directory: Path, dumped: list[DumpedRecord]) -> set[str]:
    """The same for tables with exactly the records `dumped`, and possibly rows of a snapshot."""
    expected: dict[str, list[dict[str, Any]]] = {name: [] for name in table_schemas()}
    for record in dumped:
        message = CLASSES[record.name]
        place = dict(
            zip(
                PLACE,
                (record.offset, record.epoch, record.timestamp_ms, record.version, False, False),
                strict=True,
            )
        )
        if not record.is_shown:
            del place["record_version"]
        kind = {"type": record.name, "is_control": record.is_control, "value_size": record.value_size}
        expected[RECORDS].append({**place, **kind})
        if message.FIELDS:
            fields = expected_struct(message, record.data, record.version) if record.is_shown else {}
            expected[column_name(message)].append({**place, **fields})
    for table, rows in expected.items():
        rows_of_table = read_table(directory, table).to_pylist()
        found = [_comparable(row) for row in rows_of_table if row["offset"] is not None]
        assert [row["offset"] for row in found] == [row["offset"] for row in rows], table
        different = [
            f"{table}: {got} should be {wanted}"
            for got, wanted in zip(found, rows, strict=True)
            if {name: got[name] for name in wanted} != wanted
        ]
        assert not different, "\n".join(different[:DIFFERENCES_MAX])
    return {record.name for record in dumped}


def _comparable(row: dict[str, Any]) -> dict[str, Any]:
    row["timestamp_ms"] = round(row.pop("timestamp").timestamp() * 1000)
    if "payload" in row:
        row["value_size"] = len(row["payload"])
    return row
