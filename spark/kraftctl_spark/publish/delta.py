"""Publishes tables as Delta, in place: `_delta_log` is beside the files of a table.

The condition of a commit is that its version is the next one; Delta's own retries are off, because they
would add to a table that others have changed since.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, unquote

import pyarrow as pa
from deltalake import DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import (
    AddAction,
    CommitProperties,
    RemoveAction,
    Transaction,
    create_table_with_add_actions,
)

from kraftctl_spark.publish.live_tables import LiveTable
from kraftctl_spark.publish.publication import APP, FileChange, LostRaceError, Published
from kraftctl_spark.stores.durable import Hook, no_hook
from kraftctl_spark.tables.file_schemas import field_paths
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.table_files import TableFile
from kraftctl_spark.tables.verification import DELTA_LOG

CONFIGURATION = {"delta.deletedFileRetentionDuration": "interval 30 days"}
"""A vacuum deletes what the table does not name and is older: that may be batches that are not published yet.
Each checkpoint has the removed files of this time. The default is 7 days."""


class DeltaTarget:
    """Tables as Delta; `hook` is called after each step."""

    name = "Delta"
    is_beside_files = True

    def __init__(self, hook: Hook = no_hook, options: Mapping[str, str] | None = None) -> None:
        """Takes the options of the store, which are those of obstore."""
        self._hook = hook
        self._options = dict(options or {})

    def open(self, table: LiveTable) -> Published | None:
        path, options = table.location, self._options
        try:
            if not DeltaTable.is_deltatable(path, options):
                if not table.exists:
                    return None
                _create(table, options)
                self._hook("table-created")
            found = DeltaTable(path, storage_options=options)
            if _lacks_fields(found, table.schema):
                found.alter.add_columns(
                    Schema.from_arrow(table.schema).fields,
                    commit_properties=CommitProperties(max_commit_retries=0),
                )
                self._hook("columns-added")
                found = DeltaTable(path, storage_options=options)
            if not CONFIGURATION.items() <= found.metadata().configuration.items():
                found.alter.set_table_properties(
                    CONFIGURATION, commit_properties=CommitProperties(max_commit_retries=0)
                )
                found = DeltaTable(path, storage_options=options)
        except CommitFailedError as error:
            raise LostRaceError(str(error)) from error
        return _PublishedDelta(found)

    def remove(self, output: Output, table: LiveTable) -> None:
        if output.is_stored:
            below = table.location.removeprefix(f"{output.where}/")
            output.log.store.delete(output.log.store.names(f"{below}/{DELTA_LOG}"))
            self._hook("delta-log-removed")
            return
        directory = Path(table.location)
        log, hidden = directory / DELTA_LOG, directory / f".{DELTA_LOG}"
        if hidden.exists():
            shutil.rmtree(hidden)
        if log.exists():
            log.rename(hidden)
            self._hook("delta-log-hidden")
            shutil.rmtree(hidden)
            self._hook("delta-log-removed")

    def metadata(self, table: LiveTable) -> Iterator[tuple[str, bytes]]:
        yield from ()


def _create(table: LiveTable, options: dict[str, str]) -> None:
    path = table.location
    try:
        create_table_with_add_actions(
            path,
            Schema.from_arrow(table.schema),
            [],
            name=table.name,
            configuration=CONFIGURATION,
            storage_options=options,
        )
    except DeltaError as error:
        if DeltaTable.is_deltatable(path, options):
            raise LostRaceError(str(error)) from error
        raise


def _lacks_fields(found: DeltaTable, schema: pa.Schema) -> bool:
    return not set(field_paths(schema)) <= set(field_paths(pa.schema(found.schema().to_arrow())))


class _PublishedDelta(Published):
    def __init__(self, table: DeltaTable) -> None:
        files = pa.table(table.get_add_actions(flatten=True)).select(["path", "size_bytes", "num_records"])
        super().__init__(
            table.transaction_version(APP),
            None,  # It is in the directory of its cluster.
            {Path(unquote(path)).name: (path, (size, rows)) for path, size, rows in _rows(files)},
        )
        self._table = table

    def commit(self, change: FileChange) -> None:
        now_ms = time.time_ns() // 1_000_000
        added = {quote(Path(file.path).name) for file in change.add}
        actions: list[AddAction | RemoveAction] = [_add(file, now_ms) for file in change.add]
        # A file that is added again under its name replaces the former one.
        actions += [RemoveAction(path, True, now_ms, None, {}) for path in sorted(change.remove - added)]
        once = CommitProperties(max_commit_retries=0, app_transactions=[Transaction(APP, change.position)])
        try:
            self._table.create_write_transaction(
                actions, "append", self._table.schema(), commit_properties=once
            )
        except CommitFailedError as error:
            raise LostRaceError(str(error)) from error


def _rows(files: pa.Table) -> zip[tuple[str, int, int]]:
    return zip(*(column.to_pylist() for column in files.columns), strict=True)


def _add(file: TableFile, now_ms: int) -> AddAction:
    stats = json.dumps({"numRecords": file.rows})
    return AddAction(quote(Path(file.path).name), file.bytes, {}, now_ms, True, stats)
