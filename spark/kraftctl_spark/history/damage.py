"""A file of a history that cannot be read is refused with its name and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kraftctl_spark.tables.manifest import ExportRefusedError


@contextmanager
def damage_refused(path: Path) -> Iterator[None]:
    """Errors of the operating system, which have a number, stay as they are: the file may be fine."""
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ExportRefusedError(
            f"{path} is damaged: kraftctl-export history --rebuild computes it anew"
        ) from error


def read_file(path: Path) -> pa.Table:
    """Of a history."""
    with damage_refused(path):
        return pq.ParquetFile(path).read()
