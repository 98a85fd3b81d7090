"""The files of an Iceberg table that say what is in it: metadata, lists of manifests, and manifests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyarrow.fs import FileSelector, FileType
from pyiceberg.avro.file import AvroFile
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import Table

from kraftctl_spark.tables.manifest import ExportRefusedError

AVRO = b"Obj\x01"


def listed(table: Table) -> list[str]:
    """Returns the locations of all of them, those that no snapshot has any more too."""
    io = table.io
    if not isinstance(io, PyArrowFileIO):
        raise ExportRefusedError(f"{table.location()}: its files cannot be listed with {type(io).__name__}")
    scheme, netloc, path = io.parse_location(f"{table.location()}/metadata")
    found = io.fs_by_scheme(scheme, netloc).get_file_info(FileSelector(path, recursive=True))
    names = (one.path.removeprefix(f"{path}/") for one in found if one.type == FileType.File)
    return sorted(f"{table.location()}/metadata/{name}" for name in names)


def decoded(table: Table, location: str) -> Iterator[bytes]:
    """Yields the texts and bytes in a file."""
    with table.io.new_input(location).open() as opened:
        data = opened.read()
    if not data.startswith(AVRO):
        yield data
        return
    with AvroFile[Any](table.io.new_input(location)) as records:
        for record in records:
            yield from _values(record)


def _values(value: Any) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, str):
        yield value.encode()
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _values(key)
            yield from _values(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _values(one)
    elif hasattr(value, "_data"):
        yield from _values(list(value._data))
