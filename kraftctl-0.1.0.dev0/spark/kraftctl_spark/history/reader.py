"""Reads the tables of versions with pyarrow alone: exactly the files in the manifest."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from kraftctl_spark.history.damage import read_file
from kraftctl_spark.history.history_manifest import HistoryLog
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.tables.manifest import ExportRefusedError


def read_versions(history: Path | HistoryLog, table: str) -> pa.Table:
    """Returns all rows of a table, those that are still open last; KeyError for an unknown table.

    ExportRefusedError without a history, or for a damaged file.
    """
    schema = SCHEMAS[table]
    log = HistoryLog(history) if isinstance(history, Path) else history
    while True:
        manifest = log.read()
        if manifest is None:
            raise ExportRefusedError(f"{log.where} holds no history of this release")
        files = [file for still_open in (False, True) for file in manifest.of(table, still_open)]
        try:
            read = [read_file(log.files / file.path) for file in files]
        except FileNotFoundError:
            if log.read() == manifest:
                raise
            continue  # A commit replaced it meanwhile.
        return pa.concat_tables([schema.empty_table(), *read])
