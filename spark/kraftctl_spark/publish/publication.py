"""What a published table lacks, and how it gets it: exactly once, however many publish and are killed.

A commit replaces what the published table has by what is committed here, on the condition that the published
table is still the one that was compared. So a lost race, a repeated publication and an unknown outcome have
the same remedy: to compare again. The position only keeps an older state from replacing a newer one.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from kraftctl_spark.publish.client_error import client_error, one_line
from kraftctl_spark.publish.live_tables import LiveTable, live_tables
from kraftctl_spark.stores.durable import Hook, no_hook
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.table_files import TableFile

APP = "kraftctl"
"""The application of Delta's transactions, and the prefix of Iceberg's properties."""
OFFSET = f"{APP}.offset"
CLUSTER_ID = f"{APP}.cluster-id"

ATTEMPTS = 10
"""Each lost race is one that another publisher has won."""

log = logging.getLogger(__name__)

Size = tuple[int, int]
"""The bytes and rows of a file: the history may write another file under the same name."""

Done = dict[str, dict[str, TableFile]]
"""The files of tables, by their locations, which this process has published."""


class LostRaceError(Exception):
    """The published table is not the one that was compared any more."""


class PublicationFailedError(Exception):
    """The format or its catalog has failed; the next publication continues."""


@dataclass(frozen=True)
class FileChange:
    """The files to add to a published table and those to remove, by their names."""

    position: int
    add: tuple[TableFile, ...]
    remove: frozenset[str]
    """The published files as the table names them."""


@dataclass
class Published:
    """A published table as it was opened."""

    position: int | None = None
    """That of its last publication; None before the first."""
    cluster_id: str | None = None
    files: Mapping[str, tuple[str, Size]] = field(default_factory=dict)
    """How the table names its files, and their sizes, by their names in the directory."""

    @abstractmethod
    def commit(self, change: FileChange) -> None:
        """Commits the change on the table as it was opened; LostRaceError if it has changed since."""


class Target(Protocol):
    """Where tables are published."""

    @property
    def name(self) -> str:
        """Returns the name of the format, for log lines."""

    @property
    def is_beside_files(self) -> bool:
        """Returns whether it is in the store of the files: an error is that of this store."""

    def open(self, table: LiveTable) -> Published | None:
        """Returns the published table, which has every column; None where there is nothing to publish yet.

        LostRaceError when another process is making or changing it.
        """

    def remove(self, output: Output, table: LiveTable) -> None:
        """Removes the published table with everything that says what was in it; not our files. Done again, it
        ends what a killed process began.
        """

    def metadata(self, table: LiveTable) -> Iterator[tuple[str, bytes]]:
        """Yields the files that say what is in the published table, by their names, decoded; without those in
        the directory of our files.
        """


def publish(
    output: Output,
    target: Target,
    hook: Hook = no_hook,
    done: Done | None = None,
    removed: Collection[str] = (),
) -> int:
    """Publishes everything that is committed; returns the number of tables that changed.

    Tables that have the files in `done` are not compared; those at the locations `removed` are removed
    first. ExportRefusedError when a published table belongs to another cluster or is ahead of this output;
    PublicationFailedError when it is not possible now.
    """
    done = {} if done is None else done
    changed = 0
    with output.undisturbed():
        for table in live_tables(output):
            if done.get(table.location) != table.files or table.location in removed:
                is_new = table.location in removed
                changed += _published(output, table, target, hook, done, is_new=is_new)
    return changed


def _published(
    output: Output, table: LiveTable, target: Target, hook: Hook, done: Done, *, is_new: bool
) -> bool:
    """Returns whether the table changed. A catalog may raise anything."""
    try:
        if is_new:
            target.remove(output, table)
        return _publish(output, table, target, hook, done)
    except ExportRefusedError:
        raise
    except Exception as error:
        place = table.location if target.is_beside_files else ""
        raise PublicationFailedError(
            f"{table.name} is not published as {target.name}: {client_error(error, place)}"
        ) from error


def _publish(output: Output, table: LiveTable, target: Target, hook: Hook, done: Done) -> bool:
    for _ in range(ATTEMPTS):
        try:
            published = target.open(table)
            table = _now(output, table)
            change = None
            if published is not None:
                _check_follows(table, published)
                change = change_of(table, published)
            if published is not None and change is not None:
                hook("publication-planned")
                published.commit(change)
        except LostRaceError as error:
            log.info(
                "%s: the published table has changed since it was read (%s)", table.name, one_line(str(error))
            )
            continue
        done[table.location] = table.files
        if change is not None:
            hook("table-published")
        return change is not None
    raise LostRaceError(f"{ATTEMPTS} times, another publisher was first: let one process publish it")


def _now(output: Output, table: LiveTable) -> LiveTable:
    """Returns the table as it is committed now, after the published one was opened: that has nothing newer.

    Where nothing keeps compactions away, another publisher may know a later one already.
    """
    if output.commit_number == table.commit:
        return table
    (now,) = (one for one in live_tables(output) if one.location == table.location)
    return now


def change_of(table: LiveTable, published: Published) -> FileChange | None:
    """Returns what makes the published table equal to the committed one; None if it is."""
    add = tuple(
        file
        for name, file in table.files.items()
        if name not in published.files or published.files[name][1] != (file.bytes, file.rows)
    )
    remove = frozenset(_replaced(table, published, {Path(file.path).name for file in add}))
    return FileChange(table.position, add, remove) if add or remove else None


def _replaced(table: LiveTable, published: Published, added: set[str]) -> Iterator[str]:
    for name, (path, _) in published.files.items():
        if name not in table.files or name in added:
            yield path


def _check_follows(table: LiveTable, published: Published) -> None:
    """Raises ExportRefusedError unless what is committed is at least as new as what is published."""
    if published.cluster_id not in (None, table.cluster_id):
        raise ExportRefusedError(
            f"{table.name} is published with the metadata of cluster {published.cluster_id}, but "
            f"{table.location} has that of {table.cluster_id}: publish it elsewhere"
        )
    if published.position is not None and published.position > table.position:
        raise ExportRefusedError(
            f"{table.name} is published up to offset {published.position - 1}, but {table.location} ends "
            f"at {table.position - 1}: wait until it has caught up, or publish it elsewhere"
        )
