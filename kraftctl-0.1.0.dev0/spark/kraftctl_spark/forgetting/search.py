"""Searches every file of an output for a name: decoded values, statistics, names of columns, and bytes.

Compressed pages are decoded. Bytes outside of them are searched as they are, too: what has the name there
and in no value is said. A name that is a word of ours, as `topics`, is searched for in values only. Where it
is within a longer word, or in bytes by accident, that is counted apart.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kraftctl_protocol.control_record import decode_control_value
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_spark.forgetting.record_texts import texts_of, unknown_bytes
from kraftctl_spark.forgetting.wanted_name import WantedName
from kraftctl_spark.history.schema import EVENTS, NOT_KNOWN, SCHEMAS
from kraftctl_spark.history.versions.keyed import NAMES
from kraftctl_spark.history.versions.kinds import KINDS, PARTITIONS
from kraftctl_spark.publish.live_tables import live_tables
from kraftctl_spark.publish.publication import Target
from kraftctl_spark.rows.schema import typed_columns
from kraftctl_spark.rows.tables import RECORDS, table_schemas
from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.stores.store import Store
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.output import Output

BYTES_MIN: Final = 6
"""Fewer bytes are in numbers, ids, keys and footers by accident."""


@cache
def _our_columns() -> frozenset[tuple[str, str]]:
    """Returns the columns that have words of ours alone, by table and path."""
    ours = [(one.name, name) for one in KINDS for name in ("ended_by", "state")]
    ours += [(RECORDS, "type"), (EVENTS, "kind"), (EVENTS, "history_table")]
    ours += [(NOT_KNOWN, "reason"), (NOT_KNOWN, "history_table")]
    return frozenset([*ours, *NAMES])


@cache
def our_words() -> frozenset[str]:
    """Returns the names of tables and columns, and what else is in every output."""
    schemas = {**table_schemas(), **SCHEMAS}
    words = {word for schema in schemas.values() for word in _column_words(schema)}
    words |= {*schemas, *(message.NAME for message in typed_columns())}
    return frozenset(words | {"history", "batch", "merge", "forgotten", "principal", "topic", "string"})


def _column_words(fields: Iterable[pa.Field]) -> Iterator[str]:
    for field in fields:
        yield field.name
        kind = field.type
        while pa.types.is_list(kind):
            kind = kind.value_type
        if pa.types.is_struct(kind):
            yield from _column_words(kind)


class Search:
    """Looks for one name in many files; `found` counts by place, and `within` what is not the name."""

    def __init__(self, name: WantedName) -> None:
        self._name = name
        self._is_our_word = name.bare in our_words()
        self.found: Counter[str] = Counter()
        self.within: Counter[str] = Counter()
        self.files = 0
        self.bytes = 0

    def all_of(self, store: Store) -> None:
        """Searches every file of a store, also those that are hidden or not complete."""
        with TemporaryDirectory(prefix="kraftctl-export-") as directory:
            for name in _every_name(store):
                path = Path(directory) / "file"
                if isinstance(store, LocalStore):
                    path = store.root / name
                else:
                    store.fetch_to(name, path)
                try:
                    self.file(path, name)
                except FileNotFoundError:
                    if not isinstance(store, LocalStore):
                        raise

    def file(self, path: Path, name: str) -> None:
        data = path.read_bytes()
        self.files += 1
        self.bytes += len(data)
        if not self._is_our_word and self._name.is_in(name):
            self.found[f"the name of {name}"] += 1
        if data.startswith(b"PAR1") and data.endswith(b"PAR1"):
            self._parquet(path, name, data)
        elif name.endswith(".json"):
            self._json(data, name)
        else:
            self.text(data.decode(errors="replace"), name)

    def published(self, output: Output, target: Target) -> None:
        """Searches what published tables have beside the directory of the output."""
        for table in live_tables(output):
            for place, data in target.metadata(table):
                self.files += 1
                self.bytes += len(data)
                if not self._is_our_word:
                    self.text(data.decode(errors="replace"), place)

    def text(self, text: str, place: str) -> None:
        if self._name.is_in(text):
            self.found[place] += 1
        elif self._name.bare in text:
            self.within[place] += 1

    def _json(self, data: bytes, name: str) -> None:
        """Searches the strings of lines of JSON, and keys where these are not ours."""
        if self._is_our_word:
            return
        for line in data.splitlines() or [b""]:
            try:
                value = json.loads(line)
            except ValueError:
                value = line.decode(errors="replace")
            for text in strings_in(value):
                self.text(text, name)

    def _parquet(self, path: Path, name: str, data: bytes) -> None:
        table = Path(name).parent.name
        before = self.found.total()
        file = CheckedFile(path)
        for column in _column_words(file.schema):
            if not self._is_our_word and self._name.is_in(column):
                self.found[f"a column of {name}"] += 1
        explained = self._statistics(file.metadata, table) or self._is_our_word
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group)
            for column in rows.column_names:
                if (table, column) == (RECORDS, "payload"):
                    self._payloads(rows)
                else:
                    self._column(table, column, rows.column(column).combine_chunks())
            if table == EVENTS:
                self._column(table, "subject", _topics_of_partitions(rows))
        parts = [] if explained or self.found.total() > before else _outside_pages(data, file.metadata)
        if any(map(self._has_bytes, parts)):
            self.found[f"bytes of {name}"] += 1

    def _has_bytes(self, data: bytes) -> bool:
        return len(self._name.bare_bytes) >= BYTES_MIN and self._name.bare_bytes in data

    def _statistics(self, metadata: pq.FileMetaData, table: str) -> bool:
        """Returns whether another value has the bytes of the name within it."""
        explained = False
        for group in range(metadata.num_row_groups):
            for number in range(metadata.num_columns):
                column = metadata.row_group(group).column(number)
                statistics = column.statistics
                if statistics is None or not statistics.has_min_max:
                    continue
                path = _field_path(column.path_in_schema)
                for value in (statistics.min, statistics.max):
                    if isinstance(value, bytes):
                        explained |= self._name.bare_bytes in value
                    elif isinstance(value, str) and self._name.bare in value:
                        explained = True
                        if (table, path) not in _our_columns():
                            self.text(value, f"statistics of {table}.{path}")
        return explained

    def _column(self, table: str, path: str, values: pa.Array) -> None:
        for leaf, array in leaves(path, values):
            if (table, leaf) in _our_columns():
                continue
            is_binary = pa.types.is_binary(array.type)
            wanted = self._name.bare_bytes if is_binary else self._name.bare
            some = array.filter(pc.fill_null(pc.match_substring(array, wanted), False))
            for value in some.to_pylist():
                if not is_binary:
                    self.text(value, f"{table}.{leaf}")
                else:
                    (self.found if self._has_bytes(value) else self.within)[f"{table}.{leaf}"] += 1

    def _payloads(self, rows: pa.Table) -> None:
        """Searches the bytes of records, of which each text is known."""
        payloads = rows.column("payload")
        some = rows.filter(pc.fill_null(pc.match_substring(payloads, self._name.bare_bytes), False))
        columns = (some.column(name).to_pylist() for name in ("is_control", "type_id", "payload"))
        for is_control, type_id, payload in zip(*columns, strict=True):
            has = self._is_in_record(is_control, type_id, payload)
            (self.found if has else self.within)[f"{RECORDS}.payload"] += 1

    def _is_in_record(self, is_control: bool, type_id: int | None, payload: bytes) -> bool:
        """Returns whether a text has the name, or bytes that are not understood do, be it by accident."""
        try:
            record: Message
            if is_control:
                record = decode_control_value(-1 if type_id is None else type_id, payload)
            else:
                record = decode_metadata_record(payload).record
        except DecodeError:
            return True
        texts = [text for text, _ in texts_of(record) if self._name.bare in text]
        unknown = any(self._name.bare_bytes in data for data in unknown_bytes(record))
        return unknown or any(map(self._name.is_in, texts)) or (not texts and self._has_bytes(payload))


def _outside_pages(data: bytes, metadata: pq.FileMetaData) -> Iterable[bytes]:
    """Yields what is beside the columns: by accident, compressed bytes have any short name."""
    end = 0
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            first = column.dictionary_page_offset
            start = column.data_page_offset if first is None else min(first, column.data_page_offset)
            yield data[end:start]
            end = start + column.total_compressed_size
    yield data[end:]


def _topics_of_partitions(events: pa.Table) -> pa.Array:
    """Returns the subjects of events of partitions without the partition's number."""
    of_partitions = events.filter(pc.equal(events.column("history_table"), PARTITIONS.name))
    return pc.replace_substring_regex(of_partitions.column("subject"), r"-\d+$", "").combine_chunks()


def _every_name(store: Store) -> Iterator[str]:
    if not isinstance(store, LocalStore):
        yield from store.names("")
        return
    for directory, _, names in os.walk(store.root):
        for name in sorted(names):
            yield str((Path(directory) / name).relative_to(store.root))


def strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from strings_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings_in(one)


def leaves(path: str, values: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yields the texts and bytes of a column, those within lists and structs too."""
    kind = values.type
    if pa.types.is_list(kind):
        yield from leaves(path, values.flatten())
    elif pa.types.is_struct(kind):
        for number, field in enumerate(kind):
            yield from leaves(f"{path}.{field.name}", values.field(number))
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        yield path, values
    elif pa.types.is_dictionary(kind):
        yield from leaves(path, values.dictionary)


def _field_path(path: str) -> str:
    """Returns the names of fields without those that Parquet adds for lists."""
    return ".".join(part for part in path.split(".") if part not in ("list", "element"))
