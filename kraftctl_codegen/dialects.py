"""The questions about a history in plain SQL, for DuckDB, Spark and Trino, generated from one source.

    python -m kraftctl_codegen.dialects

writes them again. They differ in how the tables are found and how a parameter is written; where functions
have other names, DuckDB gets macros with Spark's, and Trino their own names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

import kraftctl_spark.history
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.history.versions.kinds import KINDS, Kind

DIRECTORY = Path(kraftctl_spark.history.__path__[0]) / "sql"
SOURCE = "source"
TABLES = "tables"
HOUR = re.compile(r"timestamp_seconds\(unix_seconds\((\S+?)\) - unix_seconds\(\1\) % 3600\)")
UTC = "+00:00"
PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)\b")

EXAMPLES = {
    "as_of": ("BIGINT", 4000),
    "from_offset": ("BIGINT", 4000),
    "to_offset": ("BIGINT", 5000),
    "batch_offset": ("BIGINT", 4000),
    "topic": ("STRING", "orders"),
    "from_time": ("TIMESTAMP", f"2026-11-21 12:00:00{UTC}"),
    "until_time": ("TIMESTAMP", f"2026-11-21 13:00:00{UTC}"),
}
"""The type of each parameter, and a value for its comment."""


OF_BROKERS = {
    "racks": ("The rack of each broker, from when to when; null: it has none.", "rack"),
    "end_points": ("Where each broker listens, from when to when.", "end_points"),
    "log_dirs": (
        "The log directories of each broker, and those that are cordoned, from when to when.",
        "log_dirs",
        "cordoned_log_dirs",
    ),
}
"""The content of a registration: the comment of the question, and its columns."""


@dataclass(frozen=True)
class Dialect:
    """The form in which one engine writes the parts of the source."""

    name: str
    parameter: str
    """The template of a parameter, for its name."""
    assignment: str
    """The template of an assignment, for name, type and value."""
    time: str
    """The template of a point in time, for its text in UTC. DuckDB's TIMESTAMP ignores a zone. Trino's
    tables have none: with a literal that has one, Trino would compare them as if they were in the zone
    of the session."""
    tables: Callable[[], str]
    """The statements that define the tables."""
    adapted: Callable[[str], str]
    """Returns a query with the engine's names of functions."""
    in_query: bool = False
    """Whether parameters are in the query, as a table of one row, instead of in the session."""

    def assigned(self, name: str, value: object) -> str:
        """Returns the statement that gives a parameter a value."""
        kind, _ = EXAMPLES[name]
        text = str(value)
        time = self.time.format(text.removesuffix(UTC))
        literal = {"TIMESTAMP": time, "STRING": f"'{text}'"}.get(kind, text)
        return self.assignment.format(name=name, type=kind, value=literal)

    def text(self, source: str) -> str:
        """Returns a question: below its first line are the statements that give its parameters their
        values.
        """
        comment, query = source.split("\n", 1)
        names = sorted(set(PARAMETER.findall(query)))
        query = PARAMETER.sub(lambda found: self.parameter.format(name=found[1]), query).rstrip() + ";\n"
        query = self.adapted(query)
        assigned = [self.assigned(name, EXAMPLES[name][1]) for name in names]
        if not self.in_query:
            return "\n".join([comment, *(f"-- {one}" for one in assigned), query])
        if not assigned:
            return f"{comment}\n{query}"
        remarks = "".join(f"{line}\n" for line in query.splitlines() if line.startswith("--"))
        query = "".join(f"{line}\n" for line in query.splitlines() if not line.startswith("--"))
        others = f",\n{query.removeprefix('WITH ')}" if query.startswith("WITH ") else f"\n{query}"
        return f"{comment}\n{remarks}WITH parameters AS (SELECT {', '.join(assigned)}){others}"


def duckdb_tables() -> str:
    # A directory such as `env=prod` above them is not a column.
    views = "".join(
        f"CREATE OR REPLACE VIEW {name} AS"
        f" SELECT * FROM read_parquet('{name}/*.parquet', hive_partitioning = false);\n"
        for name in SCHEMAS
    )
    return (
        "-- The tables of a history: in its directory, or after SET file_search_path = '/data/history'.\n"
        f"{views}"
        "CREATE OR REPLACE MACRO size(list) AS len(list);\n"
        "CREATE OR REPLACE MACRO array_except(a, b) AS list_filter(a, lambda x: NOT list_contains(b, x));\n"
        "CREATE OR REPLACE MACRO unix_seconds(time) AS epoch_us(time) // 1000000;\n"
        "CREATE OR REPLACE MACRO timestamp_seconds(seconds) AS to_timestamp(seconds);\n"
    )


def spark_tables() -> str:
    views = "".join(
        f"CREATE OR REPLACE TEMPORARY VIEW {name} USING parquet OPTIONS (path '${{history}}/{name}');\n"
        for name in SCHEMAS
    )
    return (
        "-- The tables of a history, after SET history = /data/history. Spark lists their files once:\n"
        "-- run this again after a batch, which adds files and deletes those that it replaces.\n"
        f"{views}"
    )


def trino_tables() -> str:
    tables = "".join(
        f"CREATE TABLE {name} (\n"
        + ",\n".join(f'    "{field.name}" {_trino_type(field.type)}' for field in schema)
        + f"\n) WITH (format = 'PARQUET', external_location = 'file:///data/history/{name}');\n"
        for name, schema in SCHEMAS.items()
    )
    return (
        "-- The tables of a history in a schema of the Hive connector, after USE hive.history. The catalog\n"
        "-- needs hive.non-managed-table-writes-enabled=true, hive.parquet.time-zone=UTC and\n"
        "-- hive.timestamp-precision=MICROSECONDS. Write the place of the history as Trino sees it.\n"
        f"{tables}"
    )


def _in_trino(query: str) -> str:
    """Replaces functions by their names in Trino. Rows with a null are not equal: that of a default
    entity has one.
    """
    query = HOUR.sub(r"date_trunc('hour', \1)", query).replace("size(", "cardinality(")
    text = "json_format(CAST({}.entity AS JSON))"
    return query.replace("a.entity = b.entity", f"{text.format('a')} = {text.format('b')}")


def _trino_type(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        fields = ", ".join(f'"{field.name}" {_trino_type(field.type)}' for field in kind)
        return f"ROW({fields})"
    if pa.types.is_list(kind):
        return f"ARRAY({_trino_type(kind.value_type)})"
    simple: dict[pa.DataType, str] = {
        pa.bool_(): "BOOLEAN",
        pa.int32(): "INTEGER",
        pa.int64(): "BIGINT",
        pa.float64(): "DOUBLE",
        pa.string(): "VARCHAR",
        pa.timestamp("us", tz="UTC"): "TIMESTAMP(6)",
    }
    return simple[kind]


DUCKDB = Dialect(
    "duckdb",
    "getvariable('{name}')",
    "SET VARIABLE {name} = {value};",
    f"TIMESTAMPTZ '{{}}{UTC}'",
    duckdb_tables,
    lambda query: query,
)
SPARK = Dialect(
    "spark",
    "session.{name}",
    "DECLARE OR REPLACE VARIABLE {name} {type} DEFAULT {value};",
    f"TIMESTAMP '{{}}{UTC}'",
    spark_tables,
    lambda query: query,
)
TRINO = Dialect(
    "trino",
    "(SELECT {name} FROM parameters)",
    "{value} AS {name}",
    "TIMESTAMP '{}'",
    trino_tables,
    _in_trino,
    in_query=True,
)
DIALECTS = (DUCKDB, SPARK, TRINO)


def questions() -> dict[str, str]:
    """Returns the source of each question by its name: those of each table, and those in `source`."""
    found = {f"{kind.name}_at": _at(kind) for kind in KINDS}
    found |= {f"{kind.name}_diff": _diff(kind) for kind in KINDS}
    found |= {name: _of_broker(*what) for name, what in OF_BROKERS.items()}
    found |= {path.stem: path.read_text() for path in sorted((DIRECTORY / SOURCE).glob("*.sql"))}
    return found


def files() -> Iterator[tuple[str, str]]:
    """Returns path below `sql` and text of everything that is generated."""
    for dialect in DIALECTS:
        yield f"{dialect.name}/{TABLES}.sql", dialect.tables()
        for name, source in questions().items():
            yield f"{dialect.name}/{name}.sql", dialect.text(source)


def _at(kind: Kind) -> str:
    columns = ", ".join((*kind.key, *kind.values, "valid_from_offset", "valid_from_time"))
    return (
        f"-- {kind.name} as of an offset.\n"
        f"SELECT {columns}\n"
        f"FROM {kind.name}\n"
        "WHERE valid_from_offset <= :as_of AND (valid_to_offset IS NULL OR valid_to_offset > :as_of)\n"
        f"  AND {_is_known('as_of')}\n"
    )


def _diff(kind: Kind) -> str:
    """Reads only what ended or began in between, with the values before and after."""
    on = " AND ".join(f"a.{name} = b.{name}" for name in kind.key or ("cluster_id",))
    key = "".join(f"coalesce(b.{name}, a.{name}) AS {name},\n       " for name in kind.key)
    columns = ",\n       ".join(
        f"b.{name} AS {name}_before, a.{name} AS {name}_after" for name in kind.values
    )
    same = "\n           AND ".join(f"b.{name} IS NOT DISTINCT FROM a.{name}" for name in kind.values)
    return (
        f"-- How {kind.name} as of one offset differ from those as of an earlier one.\n"
        f"SELECT {key}CASE WHEN b.valid_from_offset IS NULL THEN 'added'\n"
        "            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,\n"
        f"       {columns}\n"
        f"FROM (SELECT * FROM {kind.name}\n"
        "      WHERE valid_from_offset <= :from_offset\n"
        "        AND valid_to_offset > :from_offset AND valid_to_offset <= :to_offset) b\n"
        f"FULL OUTER JOIN (SELECT * FROM {kind.name}\n"
        "      WHERE valid_from_offset > :from_offset AND valid_from_offset <= :to_offset\n"
        "        AND (valid_to_offset IS NULL OR valid_to_offset > :to_offset)) a\n"
        f"ON {on}\n"
        f"WHERE {_is_known('from_offset')}\n"
        f"  AND {_is_known('to_offset')}\n"
        "  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL\n"
        f"       OR NOT ({same}))\n"
    )


def _of_broker(comment: str, *columns: str) -> str:
    """Joins consecutive versions with the same values to one row."""
    same = " AND ".join(f"lag({name}) OVER of_broker IS NOT DISTINCT FROM {name}" for name in columns)
    values = ", ".join(f"min_by({name}, valid_from_offset) AS {name}" for name in columns)
    return (
        f"-- {comment}\n"
        "WITH marked AS (\n"
        "    SELECT *, CASE WHEN lag(valid_to_offset) OVER of_broker = valid_from_offset\n"
        "                    AND lag(ended_by) OVER of_broker <> 'gap'\n"
        f"                    AND {same}\n"
        "                   THEN 0 ELSE 1 END AS begins\n"
        "    FROM brokers\n"
        "    WINDOW of_broker AS (PARTITION BY broker_id ORDER BY valid_from_offset)\n"
        "),\n"
        "numbered AS (\n"
        "    SELECT *, sum(begins) OVER (PARTITION BY broker_id ORDER BY valid_from_offset) AS number\n"
        "    FROM marked\n"
        ")\n"
        f"SELECT broker_id, {values},\n"
        "       min(valid_from_offset) AS start_offset, "
        "min_by(valid_from_time, valid_from_offset) AS start_time,\n"
        "       CASE WHEN count(*) = count(valid_to_offset) THEN max(valid_to_offset) END AS end_offset,\n"
        "       CASE WHEN count(*) = count(valid_to_offset) THEN max_by(valid_to_time, valid_to_offset) END\n"
        "           AS end_time\n"
        "FROM numbered\n"
        "GROUP BY broker_id, number\n"
        "ORDER BY broker_id, start_offset\n"
    )


def _is_known(point: str) -> str:
    """Checks the point: in a gap, before the first state and after the last record, nothing can be found."""
    return f"EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= :{point} AND end_offset > :{point})"


def write() -> None:
    for path, text in files():
        (DIRECTORY / path).parent.mkdir(exist_ok=True)
        (DIRECTORY / path).write_text(text)


if __name__ == "__main__":
    write()
