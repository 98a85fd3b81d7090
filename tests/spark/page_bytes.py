"""The bytes of files with their pages and blocks decompressed: as a search finds them that trusts no reader.

The headers of pages are read as Thrift's compact protocol has them, of which little is needed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
DATA_PAGE_V2 = 3


class _Header:
    """The header of a page: integers by field, also those of the struct of its kind."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self.position = position
        self.fields = self._struct()

    def _byte(self) -> int:
        self.position += 1
        return self._data[self.position - 1]

    def _uvarint(self) -> int:
        found, shift = 0, 0
        while True:
            byte = self._byte()
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found
            shift += 7

    def _int(self) -> int:
        found = self._uvarint()
        return (found >> 1) ^ -(found & 1)

    def _struct(self) -> dict[int, object]:
        fields: dict[int, object] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._int()
            fields[number] = self._value(head & 0x0F)
        return fields

    def _value(self, kind: int) -> object:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind in (I16, I32, I64):
            return self._int()
        if kind == BYTE:
            return self._byte()
        if kind == DOUBLE:
            self.position += 8
            return None
        if kind == BINARY:
            size = self._uvarint()
            self.position += size
            return self._data[self.position - size : self.position]
        if kind == STRUCT:
            return self._struct()
        assert kind == LIST
        head = self._byte()
        return [self._value(head & 0x0F) for _ in range(head >> 4 if head >> 4 < 15 else self._uvarint())]


def decompressed(path: Path) -> Iterator[bytes]:
    """Yields the file as it is, then each page of it."""
    data = path.read_bytes()
    yield data
    metadata = pq.ParquetFile(path).metadata
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            first = column.dictionary_page_offset
            start = column.data_page_offset if first is None else min(first, column.data_page_offset)
            yield from _pages(data, start, start + column.total_compressed_size)


def _pages(data: bytes, position: int, end: int) -> Iterator[bytes]:
    codec = pa.Codec("zstd")
    while position < end:
        header = _Header(data, position)
        size, compressed = header.fields[2], header.fields[3]
        assert isinstance(size, int)
        assert isinstance(compressed, int)
        assert header.fields[1] != DATA_PAGE_V2
        position = header.position + compressed
        yield codec.decompress(data[header.position : position], size).to_pybytes()
    assert position == end


def _blocks(path: Path) -> Iterator[bytes]:
    """Yields an Avro file as it is, then each of its blocks: between markers, behind two numbers."""
    data = path.read_bytes()
    yield data
    for block in data.split(data[-16:])[1:-1]:
        start = 0
        for _ in range(2):
            start = next(place for place in range(start, len(block)) if block[place] < 0x80) + 1
        yield zlib.decompress(block[start:], -zlib.MAX_WBITS)


def _as_it_is(path: Path) -> Iterator[bytes]:
    yield path.read_bytes()


_READ = {".parquet": decompressed, ".avro": _blocks}


def places_of(name: bytes, directory: Path) -> list[str]:
    """Returns every file below a directory, hidden or not, that has these bytes in it, or in its name."""
    found = []
    for path in sorted(directory.rglob("*")):
        if not path.is_file():
            continue
        parts = _READ.get(path.suffix, _as_it_is)(path)
        if name in str(path).encode() or any(name in part for part in parts):
            found.append(str(path.relative_to(directory)))
    return found
