"""Finds the records with fields that only a later release knows, so that a manifest can list them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_protocol.control_record import decode_control_value
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_spark.rows.metadata_rows import TYPED_CLASSES
from kraftctl_spark.rows.new_fields import has_new_fields

NEW_FIELDS_COLUMNS = (
    "offset",
    "snapshot_index",
    "timestamp",
    "aborted",
    "type",
    "type_id",
    "record_version",
    "is_control",
    "payload",
)

_NAMES = {message.NAME for message in TYPED_CLASSES}


@dataclass(frozen=True)
class NewFields:
    """The records of one type and version with such fields. None is of an aborted transaction."""

    type: str
    type_id: int | None
    version: int | None
    place: int
    """The offset of the first one; in a snapshot, its index."""
    time_us: int | None
    records: int = 1


def new_fields_in(records: pa.Table, place: str) -> list[NewFields]:
    """Decodes rows of `records`, which have `NEW_FIELDS_COLUMNS`."""
    times = records.column("timestamp").cast(pa.int64())
    rows = records.select(NEW_FIELDS_COLUMNS).set_column(2, "timestamp", times)
    rows = rows.filter(pc.invert(pc.fill_null(rows.column("aborted"), False)))
    return summed(
        NewFields(row["type"], row["type_id"], row["record_version"], row[place], row["timestamp"])
        for row in rows.to_pylist()
        if _has_new_fields(row)
    )


def summed(found: Iterable[NewFields]) -> list[NewFields]:
    """Returns one for each type and version, in the order of the first ones."""
    by_kind: dict[tuple[str, int | None, int | None], NewFields] = {}
    for one in found:
        kind = one.type, one.type_id, one.version
        before = by_kind.get(kind)
        by_kind[kind] = one if before is None else replace(before, records=before.records + one.records)
    return list(by_kind.values())


def _has_new_fields(row: dict[str, Any]) -> bool:
    """Returns whether a row of `records` has tagged fields that this release does not know."""
    if row["type"] not in _NAMES or row["payload"] is None:
        return False
    return (decoded := _decoded(row)) is not None and has_new_fields(decoded)


def _decoded(row: dict[str, Any]) -> Message | None:
    """Decodes a row of `records`; None for one that this release does not understand."""
    try:
        if row["is_control"]:
            return decode_control_value(row["type_id"], row["payload"])
        return decode_metadata_record(row["payload"]).record
    except DecodeError:
        return None
