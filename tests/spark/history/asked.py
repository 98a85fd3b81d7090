"""Questions to a history, as a user asks them: with the plain SQL files, in DuckDB or in Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from kraftctl_spark.history.questions.dialects import DUCKDB, SPARK, TABLES
from kraftctl_spark.history.questions.files import text_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = dict[str, Any]


class DuckDbHistory:
    """A history in DuckDB."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, directory: Path, zone: str) -> None:
        self._connection = connection
        connection.execute(f"SET TimeZone = '{zone}'")
        connection.execute(f"SET file_search_path = '{directory}'")
        connection.execute(text_of("duckdb", TABLES))

    def do(self, statement: str) -> None:
        self._connection.execute(statement)

    def ask(self, question: str, **parameters: object) -> pa.Table:
        for name, value in parameters.items():
            self._connection.execute(DUCKDB.assigned(name, value))
        return self._connection.sql(text_of("duckdb", question)).to_arrow_table()

    def rows(self, question: str, **parameters: object) -> list[Row]:
        rows: list[Row] = self.ask(question, **parameters).to_pylist()
        return rows


@contextmanager
def in_duckdb(directory: Path, zone: str = "UTC") -> Iterator[DuckDbHistory]:
    with duckdb.connect() as connection:
        yield DuckDbHistory(connection, directory, zone)


class SparkHistory:
    """The same in Spark."""

    def __init__(self, spark: SparkSession, directory: Path) -> None:
        self._spark = spark
        spark.sql(f"SET history = {directory}")
        for statement in statements(text_of("spark", TABLES)):
            spark.sql(statement)

    def ask(self, question: str, **parameters: object) -> pa.Table:
        return self._asked(question, parameters).toArrow()

    def compute(self, question: str, **parameters: object) -> None:
        compute(self._asked(question, parameters))

    def _asked(self, question: str, parameters: dict[str, object]) -> DataFrame:
        for name, value in parameters.items():
            self._spark.sql(SPARK.assigned(name, value).removesuffix(";"))
        text = text_of("spark", question).rstrip().removesuffix(";")  # Comments have semicolons, too.
        return self._spark.sql(text)


def compute(answer: DataFrame) -> None:
    """All of it, which may be larger than the driver's memory, and is not kept."""
    answer.write.format("noop").mode("overwrite").save()


def statements(text: str) -> list[str]:
    """Of a file; spark.sql takes one at a time, without its semicolon."""
    return [one.strip() for one in text.split(";\n") if one.strip()]
