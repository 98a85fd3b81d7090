"""The questions as files of plain SQL, which DuckDB, Spark and Trino answer without Python.

sqlglot writes them. They differ in names of functions, in how a parameter is written, and in how the tables
are found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.spark import Spark
from sqlglot.dialects.trino import Trino
from sqlglot.generators.duckdb import DuckDBGenerator
from sqlglot.generators.trino import TrinoGenerator
from sqlglot.parsers.spark import SparkParser

from kraftctl_protocol.message import Field
from kraftctl_spark.history.columns import tables
from kraftctl_spark.history.questions.questions import (
    PARAMETER,
    comment_of,
    parameters_of,
    query_of,
)
from kraftctl_spark.rows.record_names import field_name

TABLES = "tables"
UTC = "+00:00"
EPOCH = "TIMESTAMP '1970-01-01 00:00:00'"

EXAMPLES: dict[str, tuple[str, object]] = {
    "as_of": ("BIGINT", 4000),
    "from_offset": ("BIGINT", 4000),
    "to_offset": ("BIGINT", 5000),
    "batch_offset": ("BIGINT", 4000),
    "topic": ("STRING", "orders"),
    "from_time": ("TIMESTAMP", f"2026-11-21 12:00:00{UTC}"),
    "until_time": ("TIMESTAMP", f"2026-11-21 13:00:00{UTC}"),
    "at_time": ("TIMESTAMP", f"2026-11-21 12:00:00{UTC}"),
    "of_topic": ("STRING", "orders"),
    "of_principal": ("STRING", "User:alice"),
    "of_operation": ("STRING", "READ"),
    "of_resource_type": ("STRING", "TOPIC"),
    "of_resource": ("STRING", "orders"),
}
"""The type of each parameter, and a value for its comment."""

RESERVED = ("offset", "user")
"""The columns that are words of SQL, which other engines take only in quotes."""


class Asked(Spark):
    """Spark SQL as the questions use it: casts fail, divisors are not 0, and no order depends on nulls."""

    NULL_ORDERING = "nulls_are_last"
    SAFE_DIVISION = False

    class Parser(SparkParser):
        STRICT_CAST = True


class InDuckDb(DuckDB):
    """DuckDB's SQL. Its `arg_max` passes over nulls, and its `epoch` rounds."""

    class Generator(DuckDBGenerator):
        TRANSFORMS: ClassVar[dict[Any, Any]] = {
            **DuckDBGenerator.TRANSFORMS,
            exp.ArgMax: lambda self, node: self.func("arg_max_null", node.this, node.expression),
            exp.ArgMin: lambda self, node: self.func("arg_min_null", node.this, node.expression),
            exp.ArrayExcept: lambda self, node: (
                f"list_filter({self.sql(node, 'this')}, "
                f"lambda one: NOT list_contains({self.sql(node, 'expression')}, one))"
            ),
            exp.RegexpSplit: lambda self, node: self.func("string_split", node.this, node.expression),
            exp.UnixSeconds: lambda self, node: f"(epoch_us({self.sql(node, 'this')}) // 1000000)",
            exp.Anonymous: lambda self, node: (
                self.func("to_timestamp", *node.expressions)
                if node.name == "timestamp_seconds"
                else self.function_fallback_sql(node)
            ),
            exp.Placeholder: lambda self, node: f"getvariable('{node.name}')",
        }


class InTrino(Trino):
    """Trino's SQL, where the parameters are a table of one row. A time in its tables has no zone."""

    class Generator(TrinoGenerator):
        TRANSFORMS: ClassVar[dict[Any, Any]] = {
            **TrinoGenerator.TRANSFORMS,
            exp.RegexpSplit: lambda self, node: self.func("split", node.this, node.expression),
            exp.UnixMillis: lambda self, node: f"date_diff('millisecond', {EPOCH}, {self.sql(node, 'this')})",
            exp.UnixSeconds: lambda self, node: f"date_diff('second', {EPOCH}, {self.sql(node, 'this')})",
            exp.Anonymous: lambda self, node: (
                f"date_add('second', CAST({self.sql(node.expressions[0])} AS BIGINT), {EPOCH})"
                if node.name == "timestamp_seconds"
                else self.function_fallback_sql(node)
            ),
            exp.Placeholder: lambda self, node: f"(SELECT {node.name} FROM parameters)",
        }


@dataclass(frozen=True)
class Dialect:
    """How one engine has the questions."""

    name: str
    tables: Callable[[str], str]
    """Returns the statements that define the tables, for the place of the history."""
    place: str
    """The place of the history in the file of the tables."""
    query: Callable[[str], str]
    """Returns the engine's query for a query of Spark."""
    assignment: str
    """The template of an assignment, for name, type and value."""
    time: str
    """The template of a point in time, for its text in UTC. DuckDB's TIMESTAMP ignores a zone. Trino's
    tables have none: with a literal that has one, Trino would compare them as if they were in the zone of
    the session."""

    def assigned(self, name: str, value: object) -> str:
        """Returns the statement, or the column, that gives a parameter a value."""
        kind, _ = EXAMPLES[name]
        text = str(value)
        time = self.time.format(text.removesuffix(UTC))
        literal = {"TIMESTAMP": time, "STRING": f"'{text}'"}.get(kind, text)
        return self.assignment.format(name=name, type=kind, value=literal)

    def file(self, name: str) -> str:
        """Returns the file of a question: what its answer is, then the query. Below the first line are the
        statements that give its parameters their values.
        """
        if name == TABLES:
            return self.tables(self.place)
        first, *others = comment_of(name).splitlines()
        assigned = [f"-- {self.assigned(one, EXAMPLES[one][1])}" for one in parameters_of(name)]
        in_query = self.query is _in_trino
        comments = [first, *([] if in_query else assigned), *others]
        return "\n".join([*comments, f"{self.query(query_of(name))};\n"])


def _parsed(query: str) -> exp.Query:
    """Returns the query as a tree, with quoted names where engines need them."""
    tree = sqlglot.parse_one(query, read=Asked)
    assert isinstance(tree, exp.Query)
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("quoted", identifier.name in RESERVED)
    return tree


def _in_spark(query: str) -> str:
    return PARAMETER.sub(lambda found: f"session.{found[1]}", query)


def _in_duckdb(query: str) -> str:
    return _parsed(query).sql(InDuckDb, pretty=True)


def _in_trino(query: str) -> str:
    """Returns the query with its parameters, which a session of Trino cannot hold, in front of it."""
    text = _parsed(query).sql(InTrino, pretty=True)
    names = sorted(set(PARAMETER.findall(query)))
    if not names:
        return text
    values = ", ".join(TRINO.assigned(name, EXAMPLES[name][1]) for name in names)
    others = f", {text.removeprefix('WITH ')}" if text.startswith("WITH ") else f"\n{text}"
    return f"WITH parameters AS (SELECT {values}){others}"


def _duckdb_tables(place: str) -> str:
    # A directory such as `env=prod` above them is not a column.
    views = "".join(
        f"CREATE OR REPLACE VIEW {name} AS"
        f" SELECT * FROM read_parquet('{place}{name}/*.parquet', hive_partitioning = false);\n"
        for name in tables()
    )
    return (
        "-- The tables of a history: in its directory, or after SET file_search_path = '/data/history'.\n"
        f"{views}"
    )


def _spark_tables(place: str) -> str:
    views = "".join(
        f"CREATE OR REPLACE TEMPORARY VIEW {name} USING parquet OPTIONS (path '{place}{name}');\n"
        for name in tables()
    )
    return (
        "-- The tables of a history, after SET history = /data/history. Spark lists their files once:\n"
        "-- run this again after a batch, which adds files and deletes those that it replaces.\n"
        f"{views}"
    )


def _trino_tables(place: str) -> str:
    return (
        "-- The tables of a history in a schema of the Hive connector, after USE hive.history. The catalog\n"
        "-- needs hive.non-managed-table-writes-enabled=true, hive.parquet.time-zone=UTC and\n"
        "-- hive.timestamp-precision=MICROSECONDS. Write the place of the history as Trino sees it.\n"
        + "".join(trino_table(name, columns, f"{place}{name}") for name, columns in tables().items())
    )


def trino_table(name: str, columns: Mapping[str, str | Field], place: str, kind: str = "PARQUET") -> str:
    """Returns the statement that defines a table."""
    rows = ",\n".join(f'    "{column}" {_trino_type(of_column)}' for column, of_column in columns.items())
    return (
        f"CREATE TABLE {name} (\n{rows}\n) WITH (format = '{kind}', external_location = 'file://{place}');\n"
    )


_TRINO_TYPES = {
    "bool": "BOOLEAN",
    "int8": "INTEGER",
    "int16": "INTEGER",
    "uint16": "INTEGER",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "float64": "DOUBLE",
    "string": "VARCHAR",
    "uuid": "VARCHAR",
    "time": "TIMESTAMP(6)",
}


def _trino_type(kind: str | Field) -> str:
    name = kind if isinstance(kind, str) else kind.type
    if isinstance(kind, str) or kind.struct is None:
        element = _TRINO_TYPES[name.removeprefix("[]")]
    else:
        fields = ", ".join(f'"{field_name(field)}" {_trino_type(field)}' for field in kind.struct.FIELDS)
        element = f"ROW({fields})"
    return f"ARRAY({element})" if name.startswith("[]") else element


DUCKDB = Dialect(
    "duckdb",
    _duckdb_tables,
    "",
    _in_duckdb,
    "SET VARIABLE {name} = {value};",
    f"TIMESTAMPTZ '{{}}{UTC}'",
)
SPARK = Dialect(
    "spark",
    _spark_tables,
    "${history}/",
    _in_spark,
    "DECLARE OR REPLACE VARIABLE {name} {type} DEFAULT {value};",
    f"TIMESTAMP '{{}}{UTC}'",
)
TRINO = Dialect("trino", _trino_tables, "/data/history/", _in_trino, "{value} AS {name}", "TIMESTAMP '{}'")
DIALECTS = {dialect.name: dialect for dialect in (DUCKDB, SPARK, TRINO)}
