"""Consecutive records, those of each type as columns: what the stage applies at a time."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from kraftctl_spark.history.record_columns import COLUMNS
from kraftctl_spark.history.schema import TIME
from kraftctl_spark.rows.tables import table_schemas

PARTITION_CHANGES, TOPIC_ID = "partition_change_record", "topic_id"


class Step(NamedTuple):
    """The records between two places in a log or in a snapshot. None is of an aborted transaction."""

    tables: dict[str, pa.Table]
    """By type, see `schema_of`.

    The place, in whose order the rows are, is the offset, or the index in a snapshot. Records of a snapshot
    have the offset and the time of its end."""
    in_snapshot: bool

    def rows(self, table: str) -> pa.Table:
        return self.tables[table] if table in self.tables else schema_of(table).empty_table()


def schema_of(table: str) -> pa.Schema:
    place = [("place", pa.int64()), ("offset", pa.int64()), ("time", TIME), ("batch_offset", pa.int64())]
    return pa.schema(place + [(name, type_of(table, name)) for name in COLUMNS[table]])


def type_of(table: str, column: str) -> pa.DataType:
    """Returns the type, as in the typed tables except for one column of few texts, which are not made
    for each row.
    """
    if (table, column) == (PARTITION_CHANGES, TOPIC_ID):
        return pa.dictionary(pa.int32(), pa.string())
    return table_schemas()[table].field(column).type
