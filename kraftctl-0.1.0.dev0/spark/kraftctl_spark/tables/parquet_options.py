"""How Parquet files are encoded, for every writer of them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

COMPRESSION = "zstd"
RISING = frozenset(
    ("offset", "batch_offset", "snapshot_index", "valid_from_offset", "valid_to_offset", "timestamp", "time")
)
"""The columns whose values rise, or nearly do, and hardly repeat.

Written as differences, they make the tables a quarter smaller than with dictionaries of their values."""
SCHEMAS_REMEMBERED = 256


@lru_cache(maxsize=SCHEMAS_REMEMBERED)
def parquet_options(schema: pa.Schema) -> dict[str, Any]:
    """Returns keyword arguments for a `pq.ParquetWriter` of a table with this schema."""
    rising = [field.name for field in schema if field.name in RISING]
    return {
        "compression": COMPRESSION,
        "use_dictionary": [path for path in _leaves(schema) if path not in rising],
        "column_encoding": dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
        "write_page_index": True,
        "write_page_checksum": True,
    }


def _leaves(schema: pa.Schema) -> list[str]:
    """Returns the paths of the columns that Parquet has for a schema, also those within lists and structs."""
    sink = pa.BufferOutputStream()
    pq.ParquetWriter(sink, schema).close()
    columns = pq.ParquetFile(sink.getvalue()).schema
    return [columns.column(place).path for place in range(len(columns))]
