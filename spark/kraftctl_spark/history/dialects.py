"""The questions about a history in plain SQL, for DuckDB and for Spark, generated from one source.

    python -m kraftctl_spark.history.dialects

writes them again. The two differ in how the tables are found and how a parameter is written; where functions
have other names, DuckDB gets macros with Spark's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kraftctl_spark.history.kinds import KINDS, Kind
from kraftctl_spark.history.schema import SCHEMAS

DIRECTORY = Path(__file__).parent / "sql"
SOURCE = "source"
TABLES = "tables"
PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)\b")

EXAMPLES = {
    "as_of": ("BIGINT", 4000),
    "from_offset": ("BIGINT", 4000),
    "to_offset": ("BIGINT", 5000),
    "batch_offset": ("BIGINT", 4000),
    "topic": ("STRING", "orders"),
    "from_time": ("TIMESTAMP", "2026-11-21 12:00:00+00:00"),
    "until_time": ("TIMESTAMP", "2026-11-21 13:00:00+00:00"),
}
"""The type of each parameter, and a value for its comment."""


@dataclass(frozen=True)
class Dialect:
    """How one engine writes what the source has."""

    name: str
    parameter: str
    """Of the name."""
    assignment: str
    """Of the name, the type and the value."""
    time: str
    """The keyword before a point in time with its zone; DuckDB's TIMESTAMP ignores the zone."""
    tables: Callable[[], str]
    """The statements that define the tables."""

    def assigned(self, name: str, value: object) -> str:
        """The statement that gives a parameter a value."""
        kind, _ = EXAMPLES[name]
        literal = {"TIMESTAMP": f"{self.time} '{value}'", "STRING": f"'{value}'"}.get(kind, str(value))
        return self.assignment.format(name=name, type=kind, value=literal)


def duckdb_tables() -> str:
    views = "".join(
        f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet('{name}/*.parquet');\n"
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


DUCKDB = Dialect(
    "duckdb", "getvariable('{name}')", "SET VARIABLE {name} = {value};", "TIMESTAMPTZ", duckdb_tables
)
SPARK = Dialect(
    "spark",
    "session.{name}",
    "DECLARE OR REPLACE VARIABLE {name} {type} DEFAULT {value};",
    "TIMESTAMP",
    spark_tables,
)


def questions() -> dict[str, str]:
    """The source of each question by its name: those of each table, and those in `source`."""
    found = {f"{kind.name}_at": _at(kind) for kind in KINDS}
    found |= {f"{kind.name}_diff": _diff(kind) for kind in KINDS}
    found |= {path.stem: path.read_text() for path in sorted((DIRECTORY / SOURCE).glob("*.sql"))}
    return found


def in_dialect(dialect: Dialect, source: str) -> str:
    """With comments that set its parameters, after the first line."""
    comment, text = source.split("\n", 1)
    names = sorted(set(PARAMETER.findall(text)))
    examples = [f"-- {dialect.assigned(name, EXAMPLES[name][1])}" for name in names]
    text = PARAMETER.sub(lambda found: dialect.parameter.format(name=found[1]), text)
    return "\n".join([comment, *examples, text.rstrip() + ";\n"])


def files() -> Iterator[tuple[str, str]]:
    """Path below `sql` and text of everything that is generated."""
    for dialect in (DUCKDB, SPARK):
        yield f"{dialect.name}/{TABLES}.sql", dialect.tables()
        for name, source in questions().items():
            yield f"{dialect.name}/{name}.sql", in_dialect(dialect, source)


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
    """Reads only what ended or began in between: what was so before it, and what is so after it."""
    on = " AND ".join(f"a.{name} = b.{name}" for name in kind.key) or "true"
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


def _is_known(point: str) -> str:
    """In a gap, before the first state and after the last record, nothing can be found or compared."""
    return f"EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= :{point} AND end_offset > :{point})"


def write() -> None:
    for path, text in files():
        (DIRECTORY / path).parent.mkdir(exist_ok=True)
        (DIRECTORY / path).write_text(text)


if __name__ == "__main__":
    write()
