"""DuckDB and pyarrow on the bare directory, where older files lack a column: with README.md's options."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from kraftctl_spark.rows.tables import table_schemas

TABLE = "topic_record"
README = (Path(__file__).parents[2] / "spark" / "README.md").read_text()


@pytest.fixture
def grown(tmp_path: Path) -> Path:
    """A table whose first file was written before its last column was known."""
    schema = table_schemas()[TABLE]
    (tmp_path / TABLE).mkdir()
    for number, columns in enumerate((list(schema)[:-1], list(schema))):
        one = pa.schema(columns)
        row = pa.Table.from_pylist([{"offset": number}], schema=one)
        pq.write_table(row, tmp_path / TABLE / f"{number:020}-{number:020}.parquet")
    return tmp_path


def test_duckdb_finds_a_new_column_by_name(grown: Path) -> None:
    """Without the option, the first file decides."""
    assert "union_by_name = true" in README
    new = table_schemas()[TABLE].names[-1]
    files = f"{grown}/{TABLE}/*.parquet"
    found = duckdb.sql(f"SELECT {new} FROM read_parquet('{files}', union_by_name = true)")
    assert found.fetchall() == [(None,), (None,)]
    with pytest.raises(duckdb.BinderException):
        duckdb.sql(f"SELECT {new} FROM '{files}'")


def test_pyarrow_finds_a_new_column_with_the_schema_of_this_release(grown: Path) -> None:
    assert 'schema=table_schemas()["topic_record"]' in README
    new = table_schemas()[TABLE].names[-1]
    assert ds.dataset(grown / TABLE, schema=table_schemas()[TABLE]).to_table()[new].to_pylist() == [
        None,
        None,
    ]
    assert new not in ds.dataset(grown / TABLE).schema.names
