"""The views and macros: each question under a name of its own, so that to ask is a line of SQL.

A question without parameters is a view, one with parameters a function that returns a table. Some read what
is beside the history: the typed `records`, and the audit logs of controllers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kraftctl_spark.history.questions.questions import PARAMETER, parameters_of, query_of, sources
from kraftctl_spark.history.versions.kinds import KINDS, Kind

MACROS, WITH_AUDIT_LOG = "macros", "macros_with_audit_log"
"""The files: all macros, and what follows where there are audit logs."""

TABLES_PLACE = "/data/metadata"
HISTORY_PLACE = f"{TABLES_PLACE}/history"
AUDIT_LOG_PLACE = "/var/log/kraftctl/audit.log"
"""The places in the files, for which the command writes those of the user."""

ARGUMENTS = {"topic": "of_topic", "batch_offset": "of_batch"}
"""The arguments that cannot be called like the parameter: that is a column, too."""

_CALLED = {"outages_between": "outages"}
"""The macros that have the name of a view, of which they are a part."""

_BESIDE = Path(__file__).parent / "beside"

AUDIT_LOG = {
    "time_ms": "int64",
    "cluster_id": "string",
    "node_id": "int32",
    "principal": "string",
    "address": "string",
    "client_id": "string",
    "api": "string",
    "outcome": "string",
    "first_offset": "int64",
    "last_offset": "int64",
}
"""The fields of a line of the audit log that queries need."""

RECORDS = {"offset": "int64", "timestamp": "time", "type": "string", "batch_offset": "int64"}
"""The columns of `records` that every engine has."""


@dataclass(frozen=True)
class Macro:
    """A name with a query of Spark, in which parameters are `:as_of`."""

    name: str
    query: str
    parameters: tuple[str, ...] = ()
    """In the order of the arguments."""
    is_scalar: bool = False


_ORDER = (
    *("of_principal", "of_operation", "of_resource_type", "of_resource", "of_topic", "topic"),
    *("from_offset", "to_offset", "from_time", "until_time", "as_of", "at_time", "batch_offset"),
)
"""The order of arguments, in any macro."""


def macros() -> Iterator[Macro]:
    """Yields all that need no audit log."""
    for kind in KINDS:
        yield Macro(f"{kind.name}_valid", _valid(kind))
    for name in sources():
        yield _macro(_CALLED.get(name, name), query_of(name), parameters_of(name))
    offset_at = _beside("offset_at")
    yield Macro("offset_at", offset_at, ("at_time",), is_scalar=True)


def with_audit_log() -> Iterator[Macro]:
    yield Macro("who", _beside("who"))


def _macro(name: str, query: str, parameters: list[str]) -> Macro:
    return Macro(name, query, tuple(sorted(parameters, key=_ORDER.index)))


def _beside(name: str) -> str:
    lines = (_BESIDE / f"{name}.sql").read_text().splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))


def _valid(kind: Kind) -> str:
    """Returns the versions, each with the last offset at which it is known to be so."""
    columns = ", ".join((*kind.key, *kind.values, "valid_from_offset", "valid_from_time", "from_snapshot"))
    return (
        f"SELECT {columns},\n"
        "       coalesce(valid_to_offset, (SELECT max(end_offset) FROM known_ranges)) - 1 AS last_offset,\n"
        "       ended_by\n"
        f"FROM {kind.name}"
    )


def argument(parameter: str) -> str:
    return ARGUMENTS.get(parameter, parameter)


def with_arguments(query: str) -> str:
    """Returns a query of Spark in which the arguments of its function are names."""
    return PARAMETER.sub(lambda found: argument(found[1]), query)


def placed(text: str, places: Mapping[str, Path]) -> str:
    """Returns a file with these places instead of its own."""
    longest_first = sorted(places, key=len, reverse=True)
    own = re.compile("|".join(map(re.escape, longest_first)))
    return own.sub(lambda found: str(places[found[0]]).replace("'", "''"), text)
