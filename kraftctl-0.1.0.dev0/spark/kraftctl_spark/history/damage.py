"""A file of a history that cannot be read is refused with its name and what to do."""

from __future__ import annotations

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
