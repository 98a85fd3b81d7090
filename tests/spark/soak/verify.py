"""Compares the tables with the exported log, as any reader of the directory sees them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from kraftctl_protocol.record_batch import RecordBatch, read_batches
from kraftctl_spark.rows.metadata_rows import CONTROL_RECORD_CLASSES, TYPED_CLASSES
from kraftctl_spark.rows.record_names import column_name
from kraftctl_spark.rows.tables import RECORDS, table_schemas
from kraftctl_spark.tables.commit_log import COMMITS
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from kraftctl_spark.tables.verification import verify
from tests.support.processes.kafka import dump_log

DUMPED = re.compile(r'^\| offset: (\d+) .*? payload: \{"type":"([A-Z_]+)"')
TABLE_OF = {
    column_name(message).upper(): column_name(message)
    for message in TYPED_CLASSES
    if message not in CONTROL_RECORD_CLASSES
}
"""Tables by kafka-dump-log's name of the type; control records have none."""


@dataclass
class Expected:
    """The expected rows: from the segments, by our decoder of batches and by kafka-dump-log."""

    payloads: list[bytes] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    timestamps_ms: list[int] = field(default_factory=list)
    offsets: dict[str, list[int]] = field(default_factory=dict)
    """Offsets of every table, by Kafka's own name of the type."""
    aborted: set[int] = field(default_factory=set)
    """Control records written meanwhile belong to no transaction."""


def expected_of(segments: Path, end: int) -> Expected:
    """Restricted to the offsets below `end`."""
    expected = Expected()
    files = sorted(segments.glob("*.log"))
    control: set[int] = set()
    for batch in _batches(files):
        if batch.header.is_control:
            control.update(record.offset for record in batch.records)
        for record in batch.records:
            if record.offset < end:
                assert record.offset == len(expected.payloads), f"the archive has a gap at {record.offset}"
                expected.payloads.append(record.value or b"")
                expected.epochs.append(batch.header.partition_leader_epoch)
                expected.timestamps_ms.append(record.timestamp_ms)
    assert len(expected.payloads) == end, f"the archive ends at {len(expected.payloads)}, before {end}"
    began: int | None = None
    for offset, kind in _dumped_types(files):
        if offset >= end:
            break
        if kind in TABLE_OF and TABLE_OF[kind] in table_schemas():
            expected.offsets.setdefault(TABLE_OF[kind], []).append(offset)
        if kind == "BEGIN_TRANSACTION_RECORD":
            began = offset
        elif kind == "ABORT_TRANSACTION_RECORD" and began is not None:
            expected.aborted.update(set(range(began + 1, offset)) - control)
    expected.offsets[RECORDS] = list(range(end))
    return expected


def _batches(files: list[Path]) -> Iterator[RecordBatch]:
    for file in files:
        yield from read_batches(file.read_bytes(), partial_tail=True)


def _dumped_types(files: list[Path]) -> Iterator[tuple[int, str]]:
    for line in dump_log(*files).splitlines():
        if found := DUMPED.match(line):
            yield int(found[1]), found[2]


def check_rows(output: Path, expected: Expected) -> None:
    """Every table by its manifests; `records` with all bytes, epochs, times and marks."""
    records = read_table(output, RECORDS)
    assert records.column("offset").to_pylist() == expected.offsets[RECORDS]
    assert records.column("payload").to_pylist() == expected.payloads
    assert records.column("log_epoch").to_pylist() == expected.epochs
    stamps = pc.divide(records.column("timestamp").cast(pa.int64()), 1000)
    assert stamps.to_pylist() == expected.timestamps_ms
    marks = records.filter(records.column("aborted")).column("offset").to_pylist()
    assert marks == sorted(expected.aborted)
    for table in sorted(TABLE_OF.values() & table_schemas().keys()):
        rows = read_table(output, table)
        assert rows.column("offset").to_pylist() == expected.offsets.get(table, []), table
        marked = rows.filter(rows.column("aborted")).column("offset").to_pylist()
        assert marked == [
            offset for offset in rows.column("offset").to_pylist() if offset in expected.aborted
        ]


def check_directory(output: Path) -> int:
    """Only files in the commits, all of them readable; returns the number of files."""
    named = {file.path: file for one in Output(output).manifests() for file in one.files}
    there = {
        str(path.relative_to(output))
        for table in table_schemas()
        if (output / table).is_dir()
        for path in (output / table).iterdir()
    }
    assert there == set(named), f"unlisted {sorted(there - set(named))}, lost {sorted(set(named) - there)}"
    strange = [path.name for path in (output / COMMITS).iterdir() if path.suffix != ".json"]
    assert not strange, strange
    assert not (problems := verify(output).problems), problems
    for path, file in named.items():
        assert pq.ParquetFile(output / path).read().num_rows == file.rows, path
    return len(named)


def counts(output: Path) -> dict[str, dict[str, tuple[int, int]]]:
    """Rows and distinct offsets of every table per reader; none of the readers uses the manifests."""
    tables = [table for table in table_schemas() if (output / table).is_dir()]
    with_arrow = {}
    for table in tables:
        offsets = pq.read_table(output / table, columns=["offset"]).column("offset")
        with_arrow[table] = (len(offsets), pc.count_distinct(offsets).as_py())
    with_duckdb = {}
    for table in tables:
        query = f"select count(*), count(distinct \"offset\") from read_parquet('{output / table}/*.parquet')"
        row = duckdb.connect().execute(query).fetchone()
        assert row is not None
        with_duckdb[table] = (int(row[0]), int(row[1]))
    return {"pyarrow": with_arrow, "DuckDB": with_duckdb, "Spark": _counted_by_spark(output, tables)}


def _counted_by_spark(output: Path, tables: list[str]) -> dict[str, tuple[int, int]]:
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    one = "select '{name}' as name, count(*) as n, count(distinct offset) as d from parquet.`{path}`"
    try:
        query = " union all ".join(one.format(name=table, path=output / table) for table in tables)
        return {row["name"]: (int(row["n"]), int(row["d"])) for row in spark.sql(query).collect()}
    finally:
        spark.stop()


def check_counts(found: dict[str, dict[str, tuple[int, int]]], expected: Expected) -> None:
    for reader, tables in found.items():
        for table, (rows, distinct) in tables.items():
            assert rows == distinct, f"{reader} finds {rows} rows of {distinct} offsets in {table}"
            if table in expected.offsets:
                assert rows == len(expected.offsets[table]), f"{reader}: {table} has {rows} rows"
        assert tables == next(iter(found.values())), f"{reader} finds other rows than the others"


def summary(expected: Expected) -> Counter[str]:
    return Counter({table: len(offsets) for table, offsets in expected.offsets.items()})
