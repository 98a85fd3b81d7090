"""A file of a history that cannot be read is refused with its name and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from kraftctl_spark.stores.object_reader import ObjectReader
from kraftctl_spark.tables.checked_file import CheckedFile

REBUILD = "kraftctl-export history --rebuild computes it again"


def open_file(path: Path | ObjectReader) -> CheckedFile:
    """Opens a file of a history, and refuses a damaged one."""
    return CheckedFile(path, REBUILD)


def read_file(path: Path | ObjectReader) -> pa.Table:
    """Reads a file of a history, and refuses a damaged one."""
    return open_file(path).read()


def row_groups(path: Path | ObjectReader) -> Iterator[pa.Table]:
    """Yields the rows of a file of a history, at least an empty table, and refuses a damaged one."""
    file = open_file(path)
    if not file.num_row_groups:
        yield file.schema.empty_table()
    for group in range(file.num_row_groups):
        yield file.read_row_group(group)
