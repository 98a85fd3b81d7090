"""Reads a Parquet file with checks: each page is compared with its checksum, and a damaged file is named.

Without checksums, a damaged byte of a page often is another value, and no error. Files of releases that
wrote none are read as they are.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from kraftctl_spark.stores.object_reader import ObjectReader
from kraftctl_spark.stores.store_error import ObjectStoreError
from kraftctl_spark.tables.manifest import RESTORE, ExportRefusedError

AGAIN = b"ARROW:schema"


class Sources(Protocol):
    """Where files of tables are: a directory, or an object store, whose `/` opens one."""

    def __truediv__(self, path: str) -> Any:
        """Returns what pyarrow can read; FileNotFoundError for a missing one, then or later."""
        ...


class CheckedFile:
    """An open file. ExportRefusedError, with its name and `what_to_do`, if it is damaged.

    Names and types of columns have no checksum, but pyarrow writes them twice: both have to be the same.
    Otherwise a damaged name would look like a column that an older release did not write.

    The columns named `with_dictionary` are read as dictionaries and numbers.
    """

    def __init__(
        self,
        path: Path | ObjectReader,
        what_to_do: str = RESTORE,
        with_dictionary: Sequence[str] | None = None,
    ) -> None:
        self._path = path
        self._what_to_do = what_to_do
        with self._damage_refused():
            self._file = pq.ParquetFile(
                path, read_dictionary=with_dictionary, page_checksum_verification=True
            )
            self.metadata: pq.FileMetaData = self._file.metadata
            self.schema: pa.Schema = self._file.schema_arrow
            again = (self.metadata.metadata or {}).get(AGAIN)
            if again and not pa.ipc.read_schema(pa.py_buffer(b64decode(again))).equals(
                _as_written(self.schema)
            ):
                raise ValueError("two schemas")

    @property
    def num_row_groups(self) -> int:
        return int(self.metadata.num_row_groups)

    def read(self, columns: list[str] | None = None) -> pa.Table:
        with self._damage_refused():
            return self._file.read(columns=columns)

    def check(self) -> None:
        """Reads every page, for readers that do not compare them with their checksums."""
        for number in range(self.num_row_groups):
            self.read_row_group(number)

    def read_row_group(self, number: int, columns: list[str] | None = None) -> pa.Table:
        with self._damage_refused():
            return self._file.read_row_group(number, columns=columns)

    @contextmanager
    def _damage_refused(self) -> Iterator[None]:
        """Refuses damage. Errors of a store or of the operating system, which have a number, and too little
        memory stay as they are.

        The file may be fine then, and a missing one may have been replaced.
        """
        try:
            yield
        except (ObjectStoreError, FileNotFoundError):
            raise
        except (pa.ArrowException, ValueError, OSError) as error:
            if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno is not None):
                raise
            raise ExportRefusedError(f"{self._path} is damaged: {self._what_to_do}") from error


def _as_written(schema: pa.Schema) -> pa.Schema:
    """Returns the schema without the dictionaries that only reading makes."""
    kinds = ((field.name, field.type) for field in schema)
    return pa.schema(
        [(name, kind.value_type if pa.types.is_dictionary(kind) else kind) for name, kind in kinds]
    )
