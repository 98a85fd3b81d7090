"""The encodings of Parquet files: offsets as differences, in columns that every engine reads."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables.parquet_options import RISING, parquet_options

ROWS = 30_000
ALL = {**table_schemas(), **{f"history/{name}": schema for name, schema in SCHEMAS.items()}}


@pytest.mark.parametrize("table", ALL)
def test_offsets_are_differences_and_all_else_has_dictionaries(table: str, tmp_path: Path) -> None:
    schema = ALL[table]
    path = tmp_path / "rows.parquet"
    rows = pa.Table.from_pylist(
        [{name: 7 for name in schema.names if name in RISING - {"timestamp"}}], schema
    )
    pq.write_table(rows, path, **parquet_options(schema))
    group = pq.ParquetFile(path).metadata.row_group(0)
    for place in range(group.num_columns):
        column = group.column(place)
        encodings = set(column.encodings)
        assert ("DELTA_BINARY_PACKED" in encodings) == (column.path_in_schema in RISING), column
        assert ("RLE_DICTIONARY" in encodings) == (
            column.path_in_schema not in RISING
        ) or column.physical_type == "BOOLEAN"
        assert column.has_column_index


def test_they_are_read_back_and_are_small(tmp_path: Path) -> None:
    schema = table_schemas()["topic_record"]
    offsets = [3 * place + (place % 7 == 0) for place in range(ROWS)]
    rows = pa.Table.from_pylist(
        [{"offset": offset, "batch_offset": offset - offset % 50} for offset in offsets], schema
    )
    path = tmp_path / "rows.parquet"
    pq.write_table(rows, path, **parquet_options(schema))
    assert pq.ParquetFile(path).read().equals(rows)
    found = duckdb.sql(f"SELECT \"offset\", batch_offset FROM '{path}'").fetchall()
    assert found == list(zip(offsets, (offset - offset % 50 for offset in offsets), strict=True))
    pq.write_table(rows, tmp_path / "dictionaries.parquet", compression="zstd")
    assert path.stat().st_size < (tmp_path / "dictionaries.parquet").stat().st_size / 2
