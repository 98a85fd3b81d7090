"""Rows of `format("kraft")`: the common columns, and a struct per record type that is null for all others."""

from __future__ import annotations

import pyarrow as pa

from kraftctl_spark.rows.columns import RowKinds, TypedColumns, common_columns, typed_columns_of
from kraftctl_spark.rows.metadata_rows import MetadataRows
from kraftctl_spark.rows.schema import COMMON_FIELDS, arrow_schema, typed_columns


def encode_wide_rows(rows: MetadataRows, cluster_id: str) -> pa.RecordBatch:
    """Returns one record batch with one row for each of `rows`."""
    schema = arrow_schema()
    kinds = RowKinds(rows)
    common = common_columns(rows, kinds, cluster_id)
    typed = typed_columns_of(rows, kinds)
    arrays = [common[name].values for name, _, _ in COMMON_FIELDS]
    for field, message in zip(list(schema)[len(COMMON_FIELDS) :], typed_columns(), strict=True):
        columns = typed.get(message)
        if columns is None:
            arrays.append(pa.nulls(len(rows), field.type))
        else:
            arrays.append(_spread(columns, field.type, len(rows)))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _spread(typed: TypedColumns, kind: pa.DataType, rows: int) -> pa.Array:
    """Returns the structs of one record type; all other rows become null as a whole, not field by field."""
    structs = pa.StructArray.from_arrays(typed.columns, fields=list(kind))
    if len(structs) == rows:
        return structs
    sources: list[int | None] = [None] * rows
    for source, place in enumerate(typed.places.to_pylist()):
        sources[place] = source
    return structs.take(pa.array(sources, pa.int32()))
