"""A Parquet file as it is read here: each page is compared with its checksum, and a damaged file is named.

Without checksums, a damaged byte of a page often is another value, and no error. Files of releases that wrote
none are read as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kraftctl_spark.tables.manifest import RESTORE, ExportRefusedError


class CheckedFile:
    """One that is open. ExportRefusedError, with its name and `what_to_do`, if it is damaged.

    The columns named `with_dictionary` are read as dictionaries and numbers.
    """

    def __init__(
        self, path: Path, what_to_do: str = RESTORE, with_dictionary: Sequence[str] | None = None
    ) -> None:
        self._path = path
        self._what_to_do = what_to_do
        with self._damage_refused():
            self._file = pq.ParquetFile(
                path, read_dictionary=with_dictionary, page_checksum_verification=True
            )
            self.metadata: pq.FileMetaData = self._file.metadata
            self.schema: pa.Schema = self._file.schema_arrow

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
        """Errors of the operating system, which have a number, stay as they are: the file may be fine."""
        try:
            yield
        except (pa.ArrowInvalid, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ExportRefusedError(f"{self._path} is damaged: {self._what_to_do}") from error
