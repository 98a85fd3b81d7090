"""Reads the typed tables with pyarrow alone: exactly the files in the manifests, in this release's schema."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from kraftctl_spark.rows.tables import in_schema, table_schemas
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.manifest import Manifest, Output


def read_table(directory: Path, table: str) -> pa.Table:
    """Returns all rows of a table, in log order; KeyError for an unknown table.

    ExportRefusedError for a damaged file.
    """
    schema = table_schemas()[table]

    def read(manifests: list[Manifest]) -> pa.Table:
        paths = [directory / file.path for one in manifests for file in one.files if file.table == table]
        tables = (in_schema(CheckedFile(path).read(), schema) for path in paths)
        return pa.concat_tables([schema.empty_table(), *tables])

    return Output(directory).read(read)
