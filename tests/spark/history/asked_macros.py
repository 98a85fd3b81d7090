"""A history asked with views and macros, in DuckDB."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import duckdb

from kraftctl_spark.cli import main
from tests.spark.history.asked import Row

DOCUMENT = (Path(__file__).parents[3] / "spark" / "QUESTIONS.md").read_text()
QUESTIONS = [text.strip() for text in re.findall(r"^```sql\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)]


def about(question: str, names: Mapping[str, str]) -> str:
    """A documented question about other things."""
    for name, other in names.items():
        question = question.replace(name, other)
    return question


class Macros:
    """A session that has loaded the file of the command."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, file: Path) -> None:
        self._connection = connection
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(file.read_text())

    def rows(self, query: str) -> list[Row]:
        rows: list[Row] = self._connection.sql(query).to_arrow_table().to_pylist()
        return rows

    def value(self, expression: str) -> object:
        ((value,),) = self._connection.execute(f"SELECT {expression}").fetchall()
        return value


def written(raw: Path, versions: Path, scratch: Path, engine: str, *flags: str) -> Path:
    """The file that the command writes."""
    file = scratch / f"{engine}.sql"
    where = ["--tables", str(raw), "--history", str(versions)]
    assert main(["macros", *where, "--engine", engine, "--to", str(file), *flags]) == 0
    return file


@contextmanager
def with_macros(raw: Path, versions: Path, scratch: Path, *flags: str) -> Iterator[Macros]:
    file = written(raw, versions, scratch, "duckdb", *flags)
    with duckdb.connect() as connection:
        yield Macros(connection, file)


def time_text(time_ms: int) -> str:
    """As an argument of a macro."""
    return f"TIMESTAMPTZ '1970-01-01 00:00:00+00:00' + INTERVAL '{time_ms}' MILLISECOND"


def in_plain_numbers(rows: list[Row]) -> list[Row]:
    """Engines sum in types of their own, and divide to different places."""
    return [
        {
            name: round(float(value), 6) if isinstance(value, int | float | Decimal) else value
            for name, value in row.items()
        }
        for row in rows
    ]
