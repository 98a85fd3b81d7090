"""The tables of an output and of its history as they are committed: what a publication makes of them.

Nothing else of this package knows how batches are committed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from kraftctl_spark.history import DIRECTORY as HISTORY
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.history.stored_history import history_log
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.table_files import TableFile


@dataclass(frozen=True)
class LiveTable:
    """A table with all of its files, as of `position`."""

    name: str
    location: str
    """The absolute directory of its files, or their URL."""
    schema: pa.Schema
    cluster_id: str
    commit: int
    """The last commit that this is known from."""
    position: int
    """What is committed never has a lower one later; merging files does not change it."""
    exists: bool
    """Whether it has files: some tables of a history have one without rows."""
    files: dict[str, TableFile]
    """The files that have rows, by their names in the directory."""


def live_tables(output: Output) -> list[LiveTable]:
    """Returns every table of the output, and those of its history where there is one.

    ExportRefusedError for a directory without tables.
    """
    output.check_exists()
    number = output.commit_number
    return [*_of_batches(output, number), *_of_history(output, number)]


def _of_batches(output: Output, number: int) -> Iterator[LiveTable]:
    live = output.manifests()
    if live:
        files = [file for one in live for file in one.files]
        place = output.where if output.is_stored else str(output.directory.absolute())
        yield from _tables(place, table_schemas(), live[-1].cluster_id, live[-1].end, files, number)


def _of_history(output: Output, number: int) -> Iterator[LiveTable]:
    history = history_log(output.directory.absolute() / HISTORY, output)
    manifest = history.read()
    if manifest is not None:
        yield from _tables(history.where, SCHEMAS, manifest.cluster_id, manifest.end, manifest.files, number)


def _tables(
    place: str,
    schemas: dict[str, pa.Schema],
    cluster_id: str,
    position: int,
    files: Sequence[TableFile],
    number: int,
) -> Iterator[LiveTable]:
    by_table: dict[str, list[TableFile]] = {}
    for file in files:
        by_table.setdefault(file.table, []).append(file)
    for name, schema in schemas.items():
        yield LiveTable(
            name=name,
            location=f"{place}/{name}",
            schema=schema,
            cluster_id=cluster_id,
            commit=number,
            position=position,
            exists=name in by_table,
            files={Path(file.path).name: file for file in by_table.get(name, ()) if file.rows},
        )
