"""The tables of a history that a record may have changed which was not understood: they follow from its type.

A wholly unknown type may have changed anything: a new type can be a change of what older ones have set.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraftctl_protocol.record_types import RECORD_TYPES
from kraftctl_spark.rows.transactions import MARKERS

_WITH = {"topics": ("topics", "partitions", "configs")}
"""The tables that have the names or ids of another one's rows, and lose theirs with them."""

_BY_TYPE_ID = {
    row.message.API_KEY: _WITH.get(row.table, (row.table,) if row.table else ())
    for row in RECORD_TYPES
    if row.message.NAME not in MARKERS
}
"""A type without a table has no effect, but a marker decides which records have one."""


def changed_tables(type_id: int | None, *, is_control: bool) -> tuple[str, ...] | None:
    """Returns the tables, None for all of them; a control record is of the raft layer, whatever its type."""
    if is_control:
        return ("quorum",)
    return None if type_id is None else _BY_TYPE_ID.get(type_id)


def lost_text(tables: Iterable[str] | None) -> str:
    """Returns what is not known, behind the text of what was not understood."""
    text = "everything" if tables is None else ", ".join(tables)
    return f": {text}" if text else ""
