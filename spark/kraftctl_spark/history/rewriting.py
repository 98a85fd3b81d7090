"""Files of a history are written again, each by one of the same offsets, because some of their rows change.

It needs no records. No version begins or ends elsewhere, so a history continues from the new files as it
would have from the old ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

import pyarrow as pa

from kraftctl_spark.history.damage import row_groups
from kraftctl_spark.history.history_manifest import OPEN_PREFIX, HistoryManifest
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.history.version_files import VersionFiles
from kraftctl_spark.tables.checked_file import Sources

ChangeRows = Callable[[str, pa.Table], tuple[pa.Table, int]]
"""Returns rows of a table as they are to be, and how many of them change."""

_RANGE = re.compile(rf"(?:{OPEN_PREFIX})?\d{{20}}-\d{{20}}")


def changes_in(files: Sources, manifest: HistoryManifest, change: ChangeRows) -> dict[str, int]:
    """Returns how many rows change, by the paths of files in which some do. Versions are asked about before
    events.
    """
    found = {}
    for file in manifest.files:
        count = sum(change(file.table, rows)[1] for rows in row_groups(files / file.path))
        if count:
            found[file.path] = count
    return found


def write_again(
    files: Sources, manifest: HistoryManifest, paths: Container[str], change: ChangeRows, to: VersionFiles
) -> None:
    """Adds these files with their changed rows, in their order, under names that are still to be free."""
    for number, file in enumerate(one for one in manifest.files if one.path in paths):
        offsets = _RANGE.match(file.path.rpartition("/")[2])
        assert offsets is not None
        name = f"{offsets[0]}-{number:05}"
        to.add(file.table, name, SCHEMAS[file.table].empty_table())
        for rows in row_groups(files / file.path):
            to.add(file.table, name, change(file.table, rows)[0])
