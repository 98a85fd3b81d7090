"""Each question in Spark SQL: a file here, or made for each table of versions.

A question reads the tables of the history, and may read the answers of other questions by their names. A
parameter is `:as_of`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from kraftctl_spark.history.columns import tables
from kraftctl_spark.history.versions.kinds import KINDS, Kind

PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)\b")

_READ = re.compile(r"(?<!DISTINCT )\b(?:FROM|JOIN)\s+(\w+)")
_WITH = "WITH "
_MADE = Path(__file__).parent / "made"
"""The questions that name every table of versions."""

_OF_BROKERS = {
    "racks": ("The rack of each broker, from when to when; null: it has none.", "rack"),
    "end_points": ("Where each broker listens, from when to when.", "end_points"),
    "log_dirs": (
        "The log directories of each broker, and those that are cordoned, from when to when.",
        "log_dirs",
        "cordoned_log_dirs",
    ),
}
"""The content of a registration: the comment of the question, and its columns."""

OF_BROKERS = {name: columns for name, (_, *columns) in _OF_BROKERS.items()}
"""The questions about registrations, each with the columns that it asks for."""


@cache
def sources() -> dict[str, str]:
    """Returns the text of each question by its name: comments, then a query."""
    found = {f"{kind.name}_at": _at(kind) for kind in KINDS}
    found |= {f"{kind.name}_diff": _diff(kind) for kind in KINDS}
    found |= {name: _of_broker(*what) for name, what in _OF_BROKERS.items()}
    found["known_tables"] = _known_tables()
    found |= {path.stem: path.read_text() for path in sorted(Path(__file__).parent.glob("*.sql"))}
    return found


def comment_of(name: str) -> str:
    """Returns the comments at the beginning of a question: what its answer is."""
    return "".join(re.findall(r"\A(?:--.*\n)+", sources()[name]))


def query_of(name: str) -> str:
    """Returns the query of a question, after those of the questions that it reads."""
    query = sources()[name].removeprefix(comment_of(name)).strip()
    read = dict.fromkeys(one for one in _READ.findall(query) if one in sources())
    if not read:
        return query
    before = ",\n".join(f"{asked} AS (\n{query_of(asked)}\n)" for asked in read)
    after = f",\n{query.removeprefix(_WITH)}" if query.startswith(_WITH) else f"\n{query}"
    return f"{_WITH}{before}{after}"


def parameters_of(name: str) -> list[str]:
    return sorted(set(PARAMETER.findall(query_of(name))))


def tables_of(name: str) -> list[str]:
    """Returns the tables of the history that a question reads."""
    return sorted(set(_READ.findall(query_of(name))) & tables().keys())


def _at(kind: Kind) -> str:
    columns = ", ".join((*kind.key, *kind.values, "valid_from_offset", "valid_from_time", "from_snapshot"))
    return (
        f"-- {kind.name} as of an offset.\n"
        f"SELECT {columns}\n"
        f"FROM {kind.name}\n"
        f"{_where_known(kind.name, 'as_of')}\n"
        "WHERE valid_from_offset <= :as_of AND (valid_to_offset IS NULL OR valid_to_offset > :as_of)\n"
    )


def _diff(kind: Kind) -> str:
    """Reads only what is valid at one of the points and not at the other, whichever is the earlier one."""
    on = " AND ".join(f"a.{name} = b.{name}" for name in kind.key or ("cluster_id",))
    key = "".join(f"coalesce(b.{name}, a.{name}) AS {name},\n       " for name in kind.key)
    columns = ",\n       ".join(
        f"b.{name} AS {name}_before, a.{name} AS {name}_after" for name in kind.values
    )
    same = "\n           AND ".join(f"b.{name} IS NOT DISTINCT FROM a.{name}" for name in kind.values)
    return (
        f"-- How {kind.name} as of one offset differ from those as of another one, before or after it.\n"
        f"SELECT {key}CASE WHEN b.valid_from_offset IS NULL THEN 'added'\n"
        "            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,\n"
        f"       {columns}\n"
        f"FROM ({_valid_at_one(kind.name, 'from_offset', 'to_offset')}) b\n"
        f"FULL OUTER JOIN ({_valid_at_one(kind.name, 'to_offset', 'from_offset')}) a\n"
        f"ON {on}\n"
        f"{_where_known(kind.name, 'from_offset')}\n"
        f"{_where_known(kind.name, 'to_offset')}\n"
        "WHERE b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL\n"
        f"      OR NOT ({same})\n"
    )


def _valid_at_one(table: str, point: str, other: str) -> str:
    """Returns a query of the versions that are valid at a point, and not at the other one."""
    return (
        f"SELECT * FROM {table}\n"
        f"      WHERE valid_from_offset <= :{point}\n"
        f"        AND (valid_to_offset IS NULL OR valid_to_offset > :{point})\n"
        f"        AND (valid_from_offset > :{other} OR valid_to_offset <= :{other})"
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
        "           AS end_time,\n"
        "       CASE WHEN count(*) = count(valid_to_offset) THEN max_by(ended_by, valid_to_offset) END\n"
        "           AS ended_by\n"
        "FROM numbered\n"
        "GROUP BY broker_id, number\n"
        "ORDER BY broker_id, start_offset\n"
    )


def _where_known(table: str, point: str) -> str:
    """Returns a join with the range in which the table is known at the point: none is in a gap, before the
    first state, or after the last record. No subquery has the parameter, because Spark's functions would
    refuse that.
    """
    known = f"known_{point}"
    return (
        f"JOIN (SELECT start_offset AS {known}_from, end_offset AS {known}_to FROM known_tables\n"
        f"      WHERE history_table = '{table}') {known}\n"
        f"     ON {known}_from <= :{point} AND {known}_to > :{point}"
    )


def _known_tables() -> str:
    """Returns the text of the file, with the names of all tables in the place of its example."""
    names = "\n    UNION ALL ".join(f"SELECT '{kind.name}' AS history_table" for kind in KINDS)
    return (_MADE / "known_tables.sql").read_text().replace("SELECT 'topics' AS history_table", names)
