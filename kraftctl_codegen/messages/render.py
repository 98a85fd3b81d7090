"""MessageSpec -> the text of one Python module: one class for all versions, straight-line code.

A person should be able to step through the result, and mypyc to turn it into C without a look-up by name.
"""

from __future__ import annotations

import re
from itertools import groupby

from kraftctl_codegen.messages.field_code import (
    FIXED_READS,
    choose_lines,
    condition,
    constructor_parameter,
    default_text,
    indent,
    is_set,
    is_unset,
    negated,
    python_type,
    read_expression,
    write_statements,
)
from kraftctl_codegen.messages.naming import snake_case
from kraftctl_codegen.messages.spec import FieldSpec, MessageSpec, SchemaError, StructSpec, walk_structs
from kraftctl_codegen.messages.versions import VERSION_MAX, Versions

HEADER = (
    '"""@generated from schemas/{folder}/{name}.json by `python -m kraftctl_codegen`; edit that instead."""'
)
_TAKEN = frozenset(
    [
        "reader",
        "version",
        "tag",
        "count",
        "end",
        "size",
        "unknown",
        "known",
        "range",
        "length",
        "at",
        "buffer",
        "_",
    ]
)
"""The names that the body of `read` uses itself."""
_NATIVE = {"read_i16_be", "read_i32_be", "read_i64_be"} | {
    "write_f64_be", "write_i16_be", "write_i32_be", "write_i64_be",
}  # fmt: skip


def render_message(message: MessageSpec, folder: str) -> str:
    """Returns the module of one schema."""
    structs = [StructCode(message, struct).lines() for struct in walk_structs(message)]
    body = "\n\n\n".join("\n".join(lines) for lines in structs)
    return f"{HEADER.format(folder=folder, name=message.name)}\n\n{render_imports(body)}\n\n\n{body}\n"


def render_imports(body: str) -> str:
    """Returns exactly the imports that `body` uses."""
    words = set(re.findall(r"\w+", body))
    native = sorted(_NATIVE & words)
    ours = {
        "EMPTY",
        "Reader",
        "Writer",
        "write_bytes",
        "write_compact_bytes",
        "write_compact_nullable_bytes",
        "write_compact_nullable_string",
        "write_compact_string",
        "write_int8",
        "write_nullable_bytes",
        "write_nullable_string",
        "write_string",
        "write_uint16",
        "write_uint32",
        "write_uuid",
        "write_uvarint",
    }
    lines = ["from __future__ import annotations", "", "from typing import ClassVar", ""]
    if native:
        lines.append(f"from librt.strings import {', '.join(native)}")
    lines += [
        "from mypy_extensions import i64, mypyc_attr",
        "",
        "from kraftctl_protocol.message import Field, Message",
    ]
    errors = {"cannot_read", "cannot_write", "invalid_tag", "missing_field", "null_field"}
    if errors & words:
        lines.insert(-1, f"from kraftctl_protocol.codec_errors import {', '.join(sorted(errors & words))}")
    lines.append("from kraftctl_protocol.primitives import (")
    lines += [f"    {name}," for name in sorted(ours & words)] + [")"]
    tags = {"begin_tag", "begin_tags", "end_tag", "end_tags", "write_tagged_fields"}
    if tags & words:
        lines.append(f"from kraftctl_protocol.tagged_fields import {', '.join(sorted(tags & words))}")
    if "ZERO_UUID" in words:
        lines.append("from kraftctl_protocol.uuids import ZERO_UUID")
    return "\n".join(lines)


class StructCode:
    """The class of one struct, or of the message itself."""

    def __init__(self, message: MessageSpec, struct: StructSpec) -> None:
        self.message = message
        self.struct = struct
        self.is_top = struct.name == message.name
        self.reachable = message.valid & struct.versions
        if not self.reachable:
            self.reachable = message.valid
        self.names = {field.name: snake_case(field.name) for field in struct.fields}
        for field in struct.fields:
            used = field.versions & self.reachable
            if field.struct is not None and used and not field.struct.versions.covers(used):
                raise SchemaError(f"{struct.name}.{field.name}: its struct does not exist in all of {used}")

    def lines(self) -> list[str]:
        reuse = ", free_list_len=1" if self.is_top else ""
        parts = [[f"@mypyc_attr(acyclic=True{reuse})", f"class {self.struct.name}(Message):"]]
        parts += [indent(self._constants()), [""], indent(self._constructor())]
        if self._compared_with_default():
            parts += [[""], indent(self._is_default())]
        parts += [[""], indent(self._write()), [""], indent(self._read())]
        if self.is_top:
            parts += [[""], indent(self._decode())]
        return [line for part in parts for line in part]

    def _flexible(self, field: FieldSpec) -> Versions:
        return self.message.flexible if field.flexible is None else field.flexible

    def _constants(self) -> list[str]:
        lines = [f'NAME: ClassVar[str] = "{self.struct.name}"']
        if self.is_top:
            flexible = self.message.flexible & self.message.valid
            if self.message.api_key is not None:
                lines.append(f"API_KEY: ClassVar[int] = {self.message.api_key}")
            lines.append(f"LOWEST_VERSION: ClassVar[int] = {self.message.valid.lowest}")
            lines.append(f"HIGHEST_VERSION: ClassVar[int] = {self.message.valid.highest}")
            first = flexible.lowest if flexible else VERSION_MAX
            lines.append(f"FIRST_FLEXIBLE_VERSION: ClassVar[int] = {first}")
            if self.message.listeners:
                listeners = ", ".join(f'"{one}"' for one in self.message.listeners)
                lines.append(f"LISTENERS: ClassVar[tuple[str, ...]] = ({listeners},)")
            if self.message.latest_version_unstable:
                lines.append("LATEST_VERSION_UNSTABLE: ClassVar[bool] = True")
        lines.append("FIELDS: ClassVar[tuple[Field, ...]] = (")
        lines += indent([self._reflection(field) for field in self.struct.fields])
        lines.append(")")
        return lines

    def _reflection(self, field: FieldSpec) -> str:
        parts = [f'"{self.names[field.name]}"', f'"{field.name}"', f'"{field.type}"']
        for keyword, versions in (
            ("versions", field.versions),
            ("nullable", field.nullable),
            ("tagged", field.tagged),
        ):
            if versions and str(versions) != ("0+" if keyword == "versions" else "none"):
                parts.append(f"{keyword}=({versions.lowest}, {versions.highest})")
        if field.tag is not None:
            parts.append(f"tag={field.tag}")
        default = (
            "()" if default_text(field) == "[]" or (field.struct and field.default is not None) else None
        )
        default = default or default_text(field)
        if default != "0":
            parts.append(f"default={default}")
        if field.ignorable:
            parts.append("ignorable=True")
        if field.struct is not None:
            parts.append(f"struct={field.element}")
        return f"Field({', '.join(parts)}),"

    def _constructor(self) -> list[str]:
        lines = ["def __init__("] + indent(["self,"])
        starts = []
        for field in self.struct.fields:
            parameter, start = constructor_parameter(self.names[field.name], field)
            lines += indent([f"{parameter},"])
            starts.append(f"self.{self.names[field.name]}: {python_type(field)} = {start}")
        if not self.struct.fields:
            lines = ["def __init__(self"]
        lines[-1:] = [lines[-1], ") -> None:"] if self.struct.fields else [f"{lines[-1]}) -> None:"]
        starts.append("self.unknown_tagged_fields = None")
        return lines + indent(starts)

    def _in_array(self) -> bool:
        return any(
            field.struct is not None and field.element == self.struct.name and field.is_array
            for struct in walk_structs(self.message)
            for field in struct.fields
        )

    def _compared_with_default(self) -> bool:
        return any(
            field.struct is not None and field.element == self.struct.name and not field.is_array
            for struct in walk_structs(self.message)
            for field in struct.fields
        )

    def _is_default(self) -> list[str]:
        tests = ["not self.unknown_tagged_fields"]
        tests += [is_unset(f"self.{self.names[field.name]}", field) for field in self.struct.fields]
        lines = ["def is_default(self) -> bool:", "    return ("]
        return [*lines, *indent(indent([tests[0]] + [f"and {test}" for test in tests[1:]])), "    )"]

    def _write(self) -> list[str]:
        lines = ["def write(self, writer: Writer, version: i64) -> None:"]
        if self.is_top:
            lines += indent(self._check_version("cannot_write"))
        for field in self.struct.fields:
            lines += indent(self._write_field(field))
        lines += indent(self._write_tags())
        return lines if len(lines) > 1 else [*lines, "    pass"]

    def _check_version(self, error: str) -> list[str]:
        lowest, highest = self.message.valid.lowest, self.message.valid.highest
        test = f"version != {lowest}" if lowest == highest else f"version < {lowest} or version > {highest}"
        return [f"if {test}:", f'    raise {error}("{self.message.name}", version)']

    def _write_field(self, field: FieldSpec) -> list[str]:
        value = f"self.{self.names[field.name]}"
        present = field.versions & self.reachable
        plain = (
            present
            if not field.tagged
            else Versions(present.lowest, min(present.highest, field.tagged.lowest - 1))
        )
        missing = [] if field.ignorable else [f"if {is_set(value, field)}:", self._missing(field)]
        if not present:
            return missing
        if not plain:
            outside = negated(present, self.reachable)
            if outside is None or not missing:
                return []
            return [f"if {_in_and(outside)} and {_in_and(is_set(value, field))}:", missing[1]]
        lines = write_statements(field, value, "writer", self._flexible(field), plain)
        plain_test = condition(plain, self.reachable)
        if plain_test is None:
            return lines
        otherwise = missing
        if plain != present:
            otherwise = []
        alternative = [f"el{otherwise[0]}", otherwise[1]] if otherwise else []
        return [f"if {plain_test}:", *indent(lines), *alternative]

    def _missing(self, field: FieldSpec) -> str:
        return f'    raise missing_field("{field.name}", version)'

    def _write_tags(self) -> list[str]:
        flexible = self.message.flexible
        refused = [
            "if self.unknown_tagged_fields:",
            '    raise missing_field("unknown tagged fields", version)',
        ]
        if not flexible & self.reachable:
            return refused
        tagged = sorted(
            (field for field in self.struct.fields if field.tagged & self.reachable),
            key=lambda field: field.tag or 0,
        )
        nothing = ["self.unknown_tagged_fields is None"]
        nothing += [_in_and(is_unset(f"self.{self.names[field.name]}", field)) for field in tagged]
        write = ["write_tagged_fields(writer, [], self.unknown_tagged_fields)"]
        if tagged:
            write = ["start = begin_tags(writer)", "count: i64 = 0"]
            for field in tagged:
                write += self._write_tag(field, flexible & self.reachable)
            write.append("end_tags(writer, start, count, self.unknown_tagged_fields)")
        simple = [f"if {' and '.join(nothing)}:", "    writer.append(0)", "else:", *indent(write)]
        return choose_lines(flexible, self.reachable, simple, refused)

    def _write_tag(self, field: FieldSpec, reachable: Versions) -> list[str]:
        value = f"self.{self.names[field.name]}"
        versions = field.tagged & field.versions
        tests = [_in_and(test) for test in (condition(versions, reachable), is_set(value, field)) if test]
        write = write_statements(
            field,
            value,
            "writer",
            self._flexible(field),
            versions & reachable,
            never_null=field.default is None,
        )
        body = [f"at = begin_tag(writer, {field.tag})", *write, "end_tag(writer, at)", "count += 1"]
        return [f"if {' and '.join(tests)}:", *indent(body)]

    def _local(self, field: FieldSpec) -> str:
        name = self.names[field.name]
        return f"{name}_" if name in _TAKEN else name

    def _read(self) -> list[str]:
        lines = ["@staticmethod", f"def read(reader: Reader, version: i64) -> {self.struct.name}:"]
        if self.is_top:
            lines += indent(self._check_version("cannot_read"))
        elif self._in_array():
            lines += indent(["if reader.position >= reader.pause_at:", "    reader.pause()"])
        for together, run in groupby(self.struct.fields, key=self._is_read_together):
            fields = list(run)
            if together and len(fields) > 1:
                lines += indent(self._read_together(fields))
            else:
                lines += [line for field in fields for line in indent(self._read_field(field))]
        flexible = self.message.flexible & self.reachable
        if flexible:
            lines += indent(self._read_tags(flexible))
        arguments = ", ".join(self._local(field) for field in self.struct.fields)
        lines.append(f"    message = {self.struct.name}({arguments})")
        if flexible:
            lines.append("    message.unknown_tagged_fields = unknown")
        return [*lines, "    return message"]

    def _is_read_together(self, field: FieldSpec) -> bool:
        """Returns whether fields of a fixed size that every version has are checked for truncation once,
        side by side.
        """
        always = condition(field.versions & self.reachable, self.reachable) is None
        return always and not field.tagged and not field.nullable and field.type in FIXED_READS

    def _read_together(self, fields: list[FieldSpec]) -> list[str]:
        lines = []
        position = 0
        for field in fields:
            size, read = FIXED_READS[field.type]
            at = f"at + {position}" if position else "at"
            value = read.format(at=at, end=f"at + {position + size}")
            lines.append(f"{self._local(field)}: {python_type(field)} = {value}")
            position += size
        return [f"at = reader.take({position})", "buffer = reader.buffer", *lines]

    def _read_field(self, field: FieldSpec) -> list[str]:
        local = self._local(field)
        present = field.versions & self.reachable
        if field.tagged:
            present = present & Versions(0, field.tagged.lowest - 1)
        declaration = f"{local}: {python_type(field)}"
        if not present:
            return [f"{declaration} = {default_text(field)}"]
        value = read_expression(field, self._flexible(field), present)
        if value.startswith("(") and value.endswith(")") and _one_pair(value):
            value = value[1:-1]
        test = condition(present, self.reachable)
        if test is None:
            return [f"{declaration} = {value}"]
        return [f"{declaration} = {default_text(field)}", f"if {test}:", f"    {local} = {value}"]

    def _read_tags(self, flexible: Versions) -> list[str]:
        tagged = [field for field in self.struct.fields if field.tagged & self.reachable]
        test = condition(flexible, self.reachable)
        if not tagged:
            if test is None:
                return ["unknown = reader.read_unknown_tagged_fields()"]
            return [
                "unknown: list[tuple[int, bytes]] | None = None",
                f"if {test}:",
                "    unknown = reader.read_unknown_tagged_fields()",
            ]
        loop = ["count = reader.read_tag_count()", "while count > 0:", "    count -= 1"]
        loop += ["    tag = reader.read_uvarint()", "    end = reader.begin_tagged_field()"]
        keyword = "if"
        for field in tagged:
            loop += indent(self._read_tag(field, flexible, keyword))
            keyword = "elif"
        loop += ["    else:", "        if unknown is None:", "            unknown = []"]
        loop += ["        size = end - reader.position"]
        loop += ["        unknown.append((tag, reader.read_unknown_tagged_field(size)))"]
        loop.append("    reader.end_tagged_field(end)")
        body = loop if test is None else [f"if {test}:", *indent(loop)]
        return ["unknown: list[tuple[int, bytes]] | None = None", *body]

    def _read_tag(self, field: FieldSpec, flexible: Versions, keyword: str) -> list[str]:
        versions = field.tagged & field.versions
        lines = [f"{keyword} tag == {field.tag}:"]
        test = negated(versions, flexible)
        if test is not None:
            lines += [f"    if {test}:", f'        raise invalid_tag("{self.struct.name}", tag, version)']
        value = read_expression(field, self._flexible(field), versions & flexible)
        if value.startswith("(") and value.endswith(")") and _one_pair(value):
            value = value[1:-1]
        return [*lines, f"    {self._local(field)} = {value}"]

    def _decode(self) -> list[str]:
        name = self.struct.name
        return [
            "@staticmethod",
            f"def decode(data: bytes, version: i64) -> {name}:",
            "    reader = Reader(data)",
            f"    message = {name}.read(reader, version)",
            "    reader.expect_end()",
            "    return message",
        ]


def _in_and(test: str) -> str:
    return f"({test})" if " or " in test else test


def _one_pair(text: str) -> bool:
    """Returns whether the last parenthesis closes the first."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return position == len(text) - 1
    return False
