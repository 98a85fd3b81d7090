"""Values of many metadata records, decoded straight into a buffer per field: no object per record.

The buffers have the layout of Arrow (little-endian numbers, ends of variable-length values, a byte per value
that is 0 for null); this module knows nothing else about Arrow. What it accepts and refuses is
what the generated `read` of a record accepts and refuses, for records without structs inside.
"""

from __future__ import annotations

from typing import Any, Final

from librt.strings import BytesWriter, write_f64_le, write_i32_le, write_i64_le
from mypy_extensions import i32, i64

from kraftctl_protocol.generated.index import record_class
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.metadata_record import FRAME_VERSION
from kraftctl_protocol.primitives import DecodeError, Reader, null_decoded
from kraftctl_protocol.record_batch import Record
from kraftctl_protocol.uuids import uuid_to_string

NOT_TAKEN: Final = -1
"""Stands in place of a kind when the record is damaged, unknown, or of a type without columns."""

_VERSION_BITS: Final = 16
_UUIDS_REMEMBERED: Final = 65_536


class Column:
    """One field of all records so far. `read` adds a value, `add_defaults` some."""

    def __init__(self, default: bytes = b"") -> None:
        self.count: i64 = 0
        self.data = BytesWriter()
        self.ends: BytesWriter | None = None
        """The end of each value in `data`, or for a list in `items`; None for values of one size."""
        self.valid: BytesWriter | None = None
        """Has 1 for a value and 0 for null; None where null is not possible."""
        self.items: Column | None = None
        self.default = default
        """The default of the field, encoded as in `data`."""

    def read(self, reader: Reader) -> None:
        raise AssertionError("overridden by every column")

    def add_defaults(self, count: i64) -> None:
        """Adds several defaults, which is much cheaper than one by one: many fields are in few records."""
        self.data.write(self.default * int(count))
        self.count += count


class Int32Column(Column):
    """Holds int32, and by its subclasses the narrower integer types, as int32."""

    def read(self, reader: Reader) -> None:
        write_i32_le(self.data, reader.read_int32())
        self.count += 1


class Int8Column(Int32Column):
    def read(self, reader: Reader) -> None:
        write_i32_le(self.data, reader.read_int8())
        self.count += 1


class Int16Column(Int32Column):
    def read(self, reader: Reader) -> None:
        write_i32_le(self.data, i32(reader.read_int16()))
        self.count += 1


class Uint16Column(Int32Column):
    def read(self, reader: Reader) -> None:
        write_i32_le(self.data, i32(reader.read_uint16()))
        self.count += 1


class Int64Column(Column):
    def read(self, reader: Reader) -> None:
        write_i64_le(self.data, reader.read_int64())
        self.count += 1


class Uint32Column(Int64Column):
    def read(self, reader: Reader) -> None:
        write_i64_le(self.data, reader.read_uint32())
        self.count += 1


class BoolColumn(Column):
    """Holds a byte per value, 0 or 1."""

    def read(self, reader: Reader) -> None:
        self.data.append(1 if reader.read_bool() else 0)
        self.count += 1


class Float64Column(Column):
    def read(self, reader: Reader) -> None:
        write_f64_le(self.data, reader.read_float64())
        self.count += 1


class VariableColumn(Column):
    """Holds strings and bytes of any length."""

    def __init__(self, nullable: bool, default: bytes | None) -> None:
        super().__init__(default or b"")
        self.ends = BytesWriter()
        self.valid = BytesWriter() if nullable else None
        self.default_is_null = default is None

    def add(self, value: bytes | None) -> None:
        ends = self.ends
        assert ends is not None
        if self.valid is not None:
            self.valid.append(0 if value is None else 1)
        elif value is None:
            raise null_decoded()
        if value is not None:
            self.data.write(value)
        write_i32_le(ends, i32(len(self.data)))
        self.count += 1

    def add_defaults(self, count: i64) -> None:
        ends = self.ends
        assert ends is not None
        if self.valid is not None:
            self.valid.write(_flag(not self.default_is_null) * int(count))
        self.count += count
        if not self.default:
            ends.write(_int32(len(self.data)) * int(count))
            return
        while count > 0:
            self.data.write(self.default)
            write_i32_le(ends, i32(len(self.data)))
            count -= 1


class BytesColumn(VariableColumn):
    def read(self, reader: Reader) -> None:
        self.add(reader.read_compact_nullable_bytes())


class StringColumn(VariableColumn):
    def read(self, reader: Reader) -> None:
        text = reader.read_compact_nullable_string()
        self.add(None if text is None else text.encode("utf-8"))


class UuidColumn(VariableColumn):
    """Holds UUIDs as text, cached: topic and directory ids repeat often."""

    def __init__(self, texts: dict[bytes, bytes], default: bytes) -> None:
        super().__init__(False, _uuid_text(texts, default))
        self.texts = texts

    def read(self, reader: Reader) -> None:
        ends = self.ends
        assert ends is not None
        self.data.write(_uuid_text(self.texts, reader.read_uuid()))
        write_i32_le(ends, i32(len(self.data)))
        self.count += 1


def _uuid_text(texts: dict[bytes, bytes], uuid: bytes) -> bytes:
    text = texts.get(uuid)
    if text is None:
        if len(texts) >= _UUIDS_REMEMBERED:
            texts.clear()
        text = uuid_to_string(uuid).encode("ascii")
        texts[uuid] = text
    return text


class ListColumn(Column):
    def __init__(self, items: Column, item_size_min: i64, nullable: bool, default_is_null: bool) -> None:
        super().__init__()
        self.items = items
        self.ends = BytesWriter()
        self.valid = BytesWriter() if nullable else None
        self.item_size_min: i64 = item_size_min
        self.default_is_null = default_is_null

    def read(self, reader: Reader) -> None:
        length = reader.read_compact_nullable_array_length(self.item_size_min, 0)
        items = self.items
        assert items is not None
        rest = length
        while rest > 0:
            items.read(reader)
            rest -= 1
        self._end(length < 0)

    def add_defaults(self, count: i64) -> None:
        ends, items = self.ends, self.items
        assert ends is not None
        assert items is not None
        if self.valid is not None:
            self.valid.write(_flag(not self.default_is_null) * int(count))
        elif self.default_is_null:
            raise null_decoded()
        ends.write(_int32(items.count) * int(count))
        self.count += count

    def _end(self, null: bool) -> None:
        ends, items = self.ends, self.items
        assert ends is not None
        assert items is not None
        if self.valid is not None:
            self.valid.append(0 if null else 1)
        elif null:
            raise null_decoded()
        write_i32_le(ends, i32(items.count))
        self.count += 1


def _flag(value: bool) -> bytes:
    return b"\1" if value else b"\0"


def _int32(value: i64) -> bytes:
    return int(value).to_bytes(4, "little", signed=True)


def _int64(value: i64) -> bytes:
    return int(value).to_bytes(8, "little", signed=True)


def _float64(value: float) -> bytes:
    writer = BytesWriter()
    write_f64_le(writer, value)
    return writer.getvalue()


class RecordColumns:
    """The records of one type and version."""

    def __init__(self, message: type[Message], version: int, texts: dict[bytes, bytes]) -> None:
        self.message = message
        self.version = version
        self.count: i64 = 0
        self.dropped: list[int] = []
        """Says which of the `count` records are damaged, and therefore not records."""
        self.newer: i64 = 0
        """How many of them have unknown tagged fields, which are skipped."""
        self._unknown_tags: i64 = 0
        self.columns: list[Column | None] = []
        """One per field of the record; None for those that the version lacks."""
        self._plain: list[Column] = []
        self._tagged: list[Column] = []
        self._by_tag: list[Column | None] = []
        self._foreign_tags: set[int] = set()
        for field in message.FIELDS:
            self._add_field(field, texts)

    def _add_field(self, field: Field, texts: dict[bytes, bytes]) -> None:
        if not field.in_version(self.version):
            self.columns.append(None)
            if field.tag >= 0:
                self._foreign_tags.add(field.tag)
            return
        column = _column(field, self.version, texts)
        self.columns.append(column)
        if field.tagged_in(self.version):
            self._tagged.append(column)
            while len(self._by_tag) <= field.tag:
                self._by_tag.append(None)
            self._by_tag[field.tag] = column
        else:
            self._plain.append(column)

    def read(self, reader: Reader) -> None:
        """Reads the record that fills the rest of `reader`; on DecodeError it counts as dropped."""
        self._unknown_tags = 0
        try:
            for column in self._plain:
                column.read(reader)
            tags = reader.read_uvarint()
            while tags > 0:
                self._read_tagged(reader)
                tags -= 1
            reader.expect_end()
        except DecodeError:
            self.dropped.append(self.count)
            self.count += 1
            for column in self._plain:
                self._fill(column)
            raise
        self.count += 1
        if self._unknown_tags > 0:
            self.newer += 1

    def fill_up(self) -> None:
        """Adds the defaults of fields that the last records lack. Call it before the columns are used."""
        for column in self._tagged:
            self._fill(column)

    def _fill(self, column: Column) -> None:
        if column.count < self.count:
            column.add_defaults(self.count - column.count)

    def _read_tagged(self, reader: Reader) -> None:
        tag = reader.read_uvarint()
        end = reader.begin_tagged_field()
        column = self._by_tag[tag] if tag < len(self._by_tag) else None
        if column is not None:
            if column.count > self.count:
                raise DecodeError(f"tag {tag} is there twice")
            self._fill(column)
            column.read(reader)
        elif int(tag) in self._foreign_tags:
            raise DecodeError(f"tag {tag} does not exist in version {self.version}")
        else:
            reader.take(end - reader.position)
            self._unknown_tags += 1
        reader.end_tagged_field(end)


class RecordsByKind:
    """Data records of all types, each added to the columns of its type and version."""

    def __init__(self, left_out: frozenset[int]) -> None:
        self.by_kind: dict[int, RecordColumns | None] = {}
        """Keys are made by `kind_of`."""
        self.kinds = BytesWriter()
        """The kind of each record, 4 bytes each; `NOT_TAKEN` for those that are in no columns."""
        self.values = VariableColumn(True, None)
        """The raw values of all records."""
        self._left_out = left_out
        self._texts: dict[bytes, bytes] = _TEXTS
        self._last_kind: i64 = NOT_TAKEN
        self._last: RecordColumns | None = None

    def add(self, records: list[Record]) -> list[int]:
        """Returns the places in the list of the records that were not taken."""
        not_taken: list[int] = []
        place: i64 = 0
        for record in records:
            value = record.value
            self.values.add(value)
            kind: i64 = NOT_TAKEN
            if value is not None:
                kind = self._add(value)
            write_i32_le(self.kinds, i32(kind))
            if kind == NOT_TAKEN:
                not_taken.append(int(place))
            place += 1  # noqa: SIM113 (a native integer)
        return not_taken

    def leave_out(self, records: list[Record]) -> None:
        """Adds control records without decoding them: their raw values, and NOT_TAKEN as their kind."""
        for record in records:
            self.values.add(record.value)
            write_i32_le(self.kinds, NOT_TAKEN)

    def _add(self, value: bytes) -> i64:
        reader = Reader(value)
        try:
            if reader.read_uvarint() != FRAME_VERSION:
                return NOT_TAKEN
            record_type = reader.read_uvarint()
            version = reader.read_uvarint()
            if version >> _VERSION_BITS:
                return NOT_TAKEN
            kind: i64 = (record_type << _VERSION_BITS) | version
            if kind != self._last_kind:
                self._last = self._columns(record_type, version)
                self._last_kind = kind
            columns = self._last
            if columns is None:
                return NOT_TAKEN
            columns.read(reader)
        except DecodeError:
            return NOT_TAKEN
        return kind

    def _columns(self, record_type: i64, version: i64) -> RecordColumns | None:
        kind = kind_of(int(record_type), int(version))
        columns = self.by_kind.get(kind)
        if columns is None and kind not in self.by_kind:
            columns = self.by_kind[kind] = self._new(int(record_type), int(version))
        return columns

    def _new(self, record_type: int, version: int) -> RecordColumns | None:
        message = record_class(record_type)
        if message is None or record_type in self._left_out or not _is_flat(message):
            return None
        if version < message.LOWEST_VERSION or version > message.HIGHEST_VERSION:
            return None
        return RecordColumns(message, version, self._texts)


_TEXTS: dict[bytes, bytes] = {}


def kind_of(record_type: int, version: int) -> int:
    """Returns type and version as one number."""
    return (record_type << _VERSION_BITS) | version


def type_and_version(kind: int) -> tuple[int, int]:
    """Returns type and version of a kind, as `kind_of` joined them."""
    return kind >> _VERSION_BITS, kind & ((1 << _VERSION_BITS) - 1)


def _is_flat(message: type[Message]) -> bool:
    """Returns whether a type can have columns: `Message.read` reads structs, and would read encodings that
    are not compact (KIP-482).
    """
    flexible = message.FIRST_FLEXIBLE_VERSION <= message.LOWEST_VERSION
    return flexible and all(field.struct is None for field in message.FIELDS)


def _column(field: Field, version: int, texts: dict[bytes, bytes]) -> Column:
    nullable = field.nullable_in(version)
    if not field.type.startswith("[]"):
        return _scalar(field.type, nullable, field.default, texts)
    item = field.type.removeprefix("[]")
    items = _scalar(item, False, None, texts)
    return ListColumn(items, _SIZES_MIN.get(item, 1), nullable, field.default is None)


_SIZES_MIN: Final = {"int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "float64": 8, "uuid": 16}


def _scalar(name: str, nullable: bool, default: Any, texts: dict[bytes, bytes]) -> Column:
    if name == "uuid":
        return UuidColumn(texts, default if isinstance(default, bytes) else bytes(16))
    if name == "string":
        text = default.encode("utf-8") if isinstance(default, str) else _none(nullable)
        return StringColumn(nullable, text)
    if name in ("bytes", "records"):
        return BytesColumn(nullable, default if isinstance(default, bytes) else _none(nullable))
    if name == "bool":
        return BoolColumn(_flag(bool(default)))
    if name == "float64":
        return Float64Column(_float64(float(default or 0.0)))
    number = int(default or 0)
    if name == "uint32":
        return Uint32Column(_int64(number))
    if name == "int64":
        return Int64Column(_int64(number))
    if name == "int8":
        return Int8Column(_int32(number))
    if name == "int16":
        return Int16Column(_int32(number))
    if name == "uint16":
        return Uint16Column(_int32(number))
    assert name == "int32", f"no column for {name}"
    return Int32Column(_int32(number))


def _none(nullable: bool) -> bytes | None:
    return None if nullable else b""
