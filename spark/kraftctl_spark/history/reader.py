"""Reads the tables of versions with pyarrow alone: exactly the files in the manifest."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from kraftctl_spark.history.damage import read_file
from kraftctl_spark.history.history_manifest import read_manifest
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.tables.manifest import ExportRefusedError


def read_versions(output: Path, table: str) -> pa.Table:
    """Returns all rows of a table, those that are still open last; KeyError for an unknown table.

    ExportRefusedError without a history, or for a damaged file.
    """
    schema = SCHEMAS[table]
    while True:
        manifest = read_manifest(output)
        if manifest is None:
            raise ExportRefusedError(f"{output} holds no history of this release")
        files = [file for still_open in (False, True) for file in manifest.of(table, still_open)]
        try:
            read = [read_file(output / file.path) for file in files]
        except FileNotFoundError:
            if read_manifest(output) == manifest:
                raise
            continue  # A commit replaced it meanwhile.
        return pa.concat_tables([schema.empty_table(), *read])
