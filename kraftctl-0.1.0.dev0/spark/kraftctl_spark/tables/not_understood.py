"""Records in the typed tables that the release which wrote them did not know, as a whole or in part.

They are found in the files, and not by what this release knows: until their bytes are decoded again, typed
tables lack them whatever reads the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_protocol.generated.index import record_class
from kraftctl_protocol.message import Message
from kraftctl_spark.rows.metadata_rows import TYPED_CLASSES, UNDECODABLE_TYPE, UNKNOWN_TYPE
from kraftctl_spark.rows.record_names import column_name
from kraftctl_spark.rows.tables import RECORDS
from kraftctl_spark.tables.changed_tables import changed_tables
from kraftctl_spark.tables.checked_file import CheckedFile, Sources
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.new_fields import NewFields, new_fields_in
from kraftctl_spark.tables.rows_in_order import RowsInOrder

NEW_TYPE, NEW_VERSION, UNDECODABLE, NEW_FIELDS = (
    "unknown type",
    "unknown version",
    "undecodable",
    "new fields",
)
"""The reasons. Of a record with new fields, all others are in the typed tables."""

BEHIND_WHICH_TABLES_ARE_LOST = (NEW_TYPE, NEW_VERSION, UNDECODABLE)

NOT_UNDERSTOOD = ("unknown", "undecodable", "newer_fields")
"""The counts of a manifest that are above 0 where a batch has such records."""

_CLASSES = {message.NAME: message for message in TYPED_CLASSES}
_COLUMNS = (
    "offset",
    "snapshot_index",
    "timestamp",
    "aborted",
    "type",
    "type_id",
    "record_version",
    "is_control",
)


@dataclass(frozen=True)
class NotUnderstood:
    """The records of one type and version, from the first one on. None is of an aborted transaction."""

    reason: str
    type: str
    type_id: int | None
    version: int | None
    place: int
    """The offset of the first one; in a snapshot, its index."""
    time_us: int | None
    records: int = 1
    is_control: bool = False

    @property
    def lost(self) -> tuple[str, ...] | None:
        """Returns the tables of a history that are not known behind it; None for all of them."""
        if self.reason == NEW_FIELDS:
            return ()
        return changed_tables(self.type_id, is_control=self.is_control)

    @property
    def kind(self) -> tuple[object, ...]:
        return self.reason, self.type, self.type_id, self.version, self.is_control

    @property
    def subject(self) -> str:
        """Returns its name for people: `TopicRecord version 7`, `record type 120 version 3`."""
        if self.type == UNDECODABLE_TYPE:
            known = None if self.is_control or self.type_id is None else record_class(self.type_id)
            return "undecodable record" if known is None else f"undecodable {known.NAME}"
        name = f"record type {self.type_id}" if self.type == UNKNOWN_TYPE else self.type
        return name if self.version is None else f"{name} version {self.version}"


def decoders_of(batch: Manifest) -> set[str]:
    """Returns the decoders of what was not understood in a batch, or had not been before it expired."""
    if batch.expired is not None:
        return set(batch.expired.decoders)
    return {batch.decoder} if any(batch.counts.get(name) for name in NOT_UNDERSTOOD) else set()


def not_understood(tables: Sources, manifest: Manifest, start: int = 0) -> list[NotUnderstood]:
    """Returns them by type and version, in the order of the first ones; of a log, from `start` on.

    It reads nothing where the manifest counts none. New fields are those that the manifest lists, unless it
    lists none, or some of them may be before `start`.
    """
    counts = manifest.counts
    if not any(counts.get(name) for name in NOT_UNDERSTOOD):
        return []
    found: dict[tuple[object, ...], NotUnderstood] = {}
    listed = manifest.new_fields
    if not manifest.snapshot and manifest.start < start and any(one.place < start for one in listed):
        listed = ()
    payloads = bool(counts.get("newer_fields")) and not listed
    each: Iterable[NotUnderstood] = map(_with_new_fields, listed)
    if payloads or any(counts.get(name) for name in NOT_UNDERSTOOD if name != "newer_fields"):
        each = chain(each, _each(tables, manifest, start, payloads=payloads))
    for one in each:
        before = found.get(one.kind)
        found[one.kind] = one if before is None else replace(before, records=before.records + one.records)
    return sorted(found.values(), key=lambda one: one.place)


def _each(tables: Sources, manifest: Manifest, start: int, payloads: bool) -> Iterator[NotUnderstood]:
    place = "snapshot_index" if manifest.snapshot else "offset"
    typed = TypedPlaces(tables, manifest, place)
    for file in manifest.files:
        if file.table != RECORDS:
            continue
        source = CheckedFile(tables / file.path)
        for group in range(source.num_row_groups):
            rows = source.read_row_group(group, columns=[*_COLUMNS, *(["payload"] if payloads else [])])
            times = rows.column("timestamp").cast(pa.int64())
            rows = rows.set_column(rows.column_names.index("timestamp"), "timestamp", times)
            rows = rows.filter(pc.invert(pc.fill_null(rows.column("aborted"), False)))
            if not manifest.snapshot:
                rows = rows.filter(pc.greater_equal(rows.column("offset"), start))
            for row in rows.filter(pc.invert(typed.has(rows))).to_pylist():
                yield _found(row, _reason(row["type"]), place)
            if payloads:
                yield from map(_with_new_fields, new_fields_in(rows, place))


def _with_new_fields(found: NewFields) -> NotUnderstood:
    return NotUnderstood(
        NEW_FIELDS, found.type, found.type_id, found.version, found.place, found.time_us, found.records
    )


def _reason(type: str) -> str:
    return {UNKNOWN_TYPE: NEW_TYPE, UNDECODABLE_TYPE: UNDECODABLE}.get(type, NEW_VERSION)


def _found(row: dict[str, Any], reason: str, place: str) -> NotUnderstood:
    kind = row["type"], row["type_id"], row["record_version"]
    return NotUnderstood(reason, *kind, row[place], row["timestamp"], is_control=row["is_control"])


class TypedPlaces:
    """The places of the rows that typed tables have, or have no table for; row groups are asked in order."""

    def __init__(self, tables: Sources, manifest: Manifest, place: str) -> None:
        self._tables = tables
        self._manifest = manifest
        self._place = place
        self._places: dict[str, RowsInOrder] = {}

    def has(self, rows: pa.Table) -> pa.Array:
        """Returns for each row of `records` whether it was understood."""
        types = rows.column("type")
        found = pa.repeat(False, rows.num_rows)
        for name in pc.unique(types).to_pylist():
            of_type = pc.equal(types, name)
            found = pc.or_(found, pc.and_(of_type, self._has(name, rows)).combine_chunks())
        return found

    def _has(self, name: str, rows: pa.Table) -> pa.ChunkedArray:
        message = _CLASSES.get(name)
        if message is None:
            return pa.chunked_array([pa.repeat(False, rows.num_rows)])
        if not message.FIELDS:
            return _is_version_of(message, rows)
        if name not in self._places:
            self._places[name] = RowsInOrder(self._read(column_name(message)), self._place)
        here = self._places[name].up_to(rows.column(self._place)[-1].as_py())
        chunks = [chunk for part in here for chunk in part.column(self._place).chunks]
        value_set = pa.concat_arrays(chunks) if chunks else pa.array([], pa.int64())
        return pc.is_in(rows.column(self._place), value_set=value_set)

    def _read(self, table: str) -> Iterator[pa.Table]:
        for file in self._manifest.files:
            if file.table == table:
                source = CheckedFile(self._tables / file.path)
                for group in range(source.num_row_groups):
                    yield source.read_row_group(group, columns=[self._place])


def _is_version_of(message: type[Message], rows: pa.Table) -> pa.ChunkedArray:
    version = rows.column("record_version")
    known = pc.and_(
        pc.greater_equal(version, message.LOWEST_VERSION), pc.less_equal(version, message.HIGHEST_VERSION)
    )
    return pc.or_(pc.fill_null(known, False), rows.column("is_control"))
