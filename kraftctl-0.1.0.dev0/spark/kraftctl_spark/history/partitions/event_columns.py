"""Events as columns whose values are numbers until the events are in the order of the log.

Ordering numbers costs a fraction of ordering texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history.partitions.distinct import NUMBER
from kraftctl_spark.history.partitions.partition_columns import array, row_numbers, stable_order
from kraftctl_spark.history.schema import EVENTS_SCHEMA

_CLUSTER = "cluster_id"


class Numbered(NamedTuple):
    """A column: some values and, for each row, the number of its own; null for null."""

    values: pa.Array
    numbers: pa.Array


EventColumns = Mapping[str, Numbered | pa.Array]
"""All columns but the cluster; those with few or short values are arrays."""


def numbered(rows: pa.Table) -> EventColumns:
    """Returns the columns of events that are rows already."""
    places = row_numbers(rows.num_rows).cast(NUMBER)
    columns = {name: array(rows.column(name)) for name in rows.column_names if name != _CLUSTER}
    return {
        name: Numbered(column, places) if pa.types.is_string(column.type) else column
        for name, column in columns.items()
    }


def in_log_order(parts: Sequence[EventColumns], cluster_id: str) -> pa.Table:
    """Sorts by offset; events of the same offset stay in the order of the parts, and in that within one."""
    parts = [part for part in parts if len(part["offset"])]
    if not parts:
        return EVENTS_SCHEMA.empty_table()
    order = None
    if len(parts) > 1:
        order = stable_order(pa.concat_arrays([part["offset"] for part in parts]))
    columns = {name: _joined([part[name] for part in parts], order) for name in parts[0]}
    columns[_CLUSTER] = pa.repeat(pa.scalar(cluster_id, pa.string()), len(columns["offset"]))
    return pa.Table.from_arrays([columns[name] for name in EVENTS_SCHEMA.names], schema=EVENTS_SCHEMA)


def _joined(parts: Sequence[Numbered | pa.Array], order: pa.Array | None) -> pa.Array:
    if not isinstance(parts[0], Numbered):
        together = pa.concat_arrays(parts)
        return together if order is None else together.take(order)
    numbers: list[pa.Array] = []
    count = 0
    for part in parts:
        numbers.append(pc.add(part.numbers, pa.scalar(count, NUMBER)))
        count += len(part.values)
    rows = pa.concat_arrays(numbers)
    return pa.concat_arrays([part.values for part in parts]).take(rows if order is None else rows.take(order))
