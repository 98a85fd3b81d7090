"""Reads the typed tables with pyarrow alone: exactly the files in the manifests, in this release's schema."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from kraftctl_spark.rows.tables import in_schema, table_schemas
from kraftctl_spark.stores.open_store import StoreLocation, is_object_store
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.output import Output


def read_table(place: Path | str, table: str) -> pa.Table:
    """Returns all rows of a table, in log order; KeyError for an unknown table.

    ExportRefusedError for a damaged file.
    """
    if isinstance(place, str) and is_object_store(place):
        from kraftctl_spark.tables.stored_output import StoredOutput  # It needs obstore.

        return table_of(StoredOutput(StoreLocation.here(place, {}).open_objects(), Path()), table)
    return table_of(Output(Path(place)), table)


def table_of(output: Output, table: str) -> pa.Table:
    """Returns the same as `read_table`, of any output."""
    schema = table_schemas()[table]

    def read(manifests: list[Manifest]) -> pa.Table:
        paths = [file.path for one in manifests for file in one.files if file.table == table]
        tables = (in_schema(CheckedFile(output.sources / path).read(), schema) for path in paths)
        return pa.concat_tables([schema.empty_table(), *tables])

    return output.read(read)
