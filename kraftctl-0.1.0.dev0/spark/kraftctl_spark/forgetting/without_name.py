"""A batch in which a name is replaced: the bytes of its records, and the rows that are decoded from them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_protocol.control_record import decode_control_value, encode_control_value
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record, encode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_spark.forgetting.record_texts import replace_name
from kraftctl_spark.forgetting.wanted_name import WantedName
from kraftctl_spark.rows.new_fields import has_new_fields
from kraftctl_spark.rows.tables import RECORDS
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.rewritten_batch import RewrittenBatch

COLUMNS = ("is_control", "type_id", "payload")


class Changed(NamedTuple):
    """The bytes of a record without the name; None where they are not understood, and removed."""

    payload: bytes | None
    is_redacted: bool
    """Whether something was removed that is not the name."""
    lost_new_fields: bool


def changed_records(rows: pa.Table, name: WantedName) -> dict[int, Changed]:
    """Returns what changes, by numbers of rows of `records`. Few have the bytes of the name in them."""
    have = pc.fill_null(pc.match_substring(rows.column("payload"), name.bare_bytes), False)
    numbers = pc.indices_nonzero(have)
    columns = (rows.column(column).take(numbers).to_pylist() for column in COLUMNS)
    found = {}
    for number, is_control, type_id, payload in zip(numbers.to_pylist(), *columns, strict=True):
        changed = _changed(is_control, type_id, payload, name)
        if changed is not None:
            found[number] = changed
    return found


def _changed(is_control: bool, type_id: int | None, payload: bytes, name: WantedName) -> Changed | None:
    try:
        record, version = _decoded(is_control, type_id, payload)
    except DecodeError:
        return Changed(None, True, False) if name.everywhere else None  # It may be an accident.
    before = has_new_fields(record)
    has_changed, is_redacted = replace_name(record, name)
    if not has_changed:
        return None
    new = encode_control_value(record) if is_control else encode_metadata_record(record, version)
    return Changed(new, is_redacted, before and not has_new_fields(record))


def _decoded(is_control: bool, type_id: int | None, payload: bytes) -> tuple[Message, int]:
    if is_control:
        return decode_control_value(-1 if type_id is None else type_id, payload), 0
    decoded = decode_metadata_record(payload)
    return decoded.record, decoded.version


def records_with(output: Output, manifest: Manifest, name: WantedName) -> tuple[int, int]:
    """Returns the number of records of a batch that change, and how many of them lose bytes."""
    changed, losing = 0, 0
    for file in manifest.files:
        if file.table == RECORDS:
            source = CheckedFile(output.sources / file.path)
            for group in range(source.num_row_groups):
                found = changed_records(source.read_row_group(group, list(COLUMNS)), name).values()
                changed += len(found)
                losing += sum(one.is_redacted for one in found)
    return changed, losing


class BatchWithoutName(RewrittenBatch):
    """A batch that is written again."""

    def __init__(self, output: Output, manifest: Manifest, name: WantedName) -> None:
        super().__init__(output, manifest)
        self._name = name
        self._removed = 0
        self._lost_new_fields = 0

    def _changed(self, rows: pa.Table) -> dict[str, pa.Table]:
        found = changed_records(rows, self._name)
        if not found:
            return {}
        was_redacted = rows.column("redacted").take(pa.array(list(found))).to_pylist()
        removed = [one.is_redacted for one in found.values()]
        redacted = [before or now for before, now in zip(was_redacted, removed, strict=True)]
        self._removed += redacted.count(True) - was_redacted.count(True)
        self._lost_new_fields += sum(one.lost_new_fields for one in found.values())
        chosen = rows.take(pa.array(list(found)))
        chosen = _with(chosen, "payload", pa.array([one.payload for one in found.values()], pa.binary()))
        chosen = _with(chosen, "redacted", pa.array(redacted))
        lost = pc.is_null(chosen.column("payload"))
        decoded = chosen.filter(pc.invert(lost))
        tables = self._again(decoded) if decoded.num_rows else {}
        records = [tables[RECORDS]] if tables else []
        return {**tables, RECORDS: pa.concat_tables([*records, chosen.filter(lost)])}

    def _described(self, manifest: Manifest) -> Manifest:
        counts = dict(manifest.counts)
        counts["redacted"] = counts.get("redacted", 0) + self._removed
        if not self._lost_new_fields:
            return replace(manifest, counts=counts)
        counts["newer_fields"] -= self._lost_new_fields
        return replace(manifest, counts=counts, new_fields=())  # Only their bytes say which ones are left.


def _with(rows: pa.Table, name: str, column: pa.Array) -> pa.Table:
    return rows.set_column(rows.column_names.index(name), name, column)
