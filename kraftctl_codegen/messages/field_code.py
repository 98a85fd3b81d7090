"""Python text for one field: its type, its default, and the expressions that read, write and test it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from kraftctl_codegen.messages.spec import FieldSpec, StructSpec
from kraftctl_codegen.messages.versions import NONE, Versions

INDENT = "    "
_PYTHON_TYPES = {"bool": "bool", "float64": "float", "string": "str", "uuid": "bytes", "bytes": "bytes"}
_FIXED_SIZES = {
    "bool": 1, "int8": 1, "int16": 2, "uint16": 2, "uint32": 4, "int32": 4, "int64": 8, "float64": 8,
    "uuid": 16,
}  # fmt: skip
LIST_SLOT_COST = 10
_OBJECT_COST, _LIST_COST = 32, 64
_VALUE_COSTS = {
    "bool": 0, "int8": 32, "int16": 32, "uint16": 32, "uint32": 32, "int32": 32, "int64": 32, "float64": 32,
    "uuid": 64,
}  # fmt: skip
"""The bytes that CPython and mypyc allocate, rounded up: a place in a list with what it reserves for
more, an object without its attributes, a list, and values that are objects of their own. Attributes hold
integers in place, except for the largest of int64."""
FIXED_READS = {
    "bool": (1, "buffer[{at}] != 0"),
    "int16": (2, "read_i16_be(buffer, {at})"),
    "int32": (4, "read_i32_be(buffer, {at})"),
    "int64": (8, "read_i64_be(buffer, {at})"),
    "uuid": (16, "buffer[{at} : {end}]"),
}
"""The size and the expression of values that can be read without a call once they are known to be there."""
_WRITERS = {
    "int8": "write_int8", "int16": "write_i16_be", "uint16": "write_uint16",
    "uint32": "write_uint32", "int32": "write_i32_be", "int64": "write_i64_be", "float64": "write_f64_be",
    "uuid": "write_uuid",
}  # fmt: skip


def element_type(field: FieldSpec) -> str:
    """Returns the Python type of the field's value, or of one element if it is an array."""
    if field.struct is not None:
        return field.element
    return _PYTHON_TYPES.get(field.element, "bytes" if field.element == "records" else "int")


def is_optional(field: FieldSpec) -> bool:
    """Returns whether None is a value of the attribute."""
    return bool(field.nullable) or field.type == "records"


def python_type(field: FieldSpec) -> str:
    plain = f"list[{element_type(field)}]" if field.is_array else element_type(field)
    return f"{plain} | None" if is_optional(field) else plain


def default_text(field: FieldSpec) -> str:
    """Returns an expression for a fresh default value."""
    if field.default is None:
        return "None"
    if field.is_array:
        return "[]"
    if field.struct is not None:
        return f"{field.element}()"
    if field.type == "string":
        return json.dumps(field.default)
    return "ZERO_UUID" if field.type == "uuid" else repr(field.default)


def constructor_parameter(name: str, field: FieldSpec) -> tuple[str, str]:
    """Returns the parameter's text and the expression that the attribute starts with."""
    if field.default is not None and field.is_array:
        return f"{name}: {python_type(field)} = EMPTY", f"[] if {name} is EMPTY else {name}"
    if field.default is not None and field.struct is not None:
        return f"{name}: {field.element} | None = None", f"{field.element}() if {name} is None else {name}"
    return f"{name}: {python_type(field)} = {default_text(field)}", name


def is_unset(value: str, field: FieldSpec) -> str:
    """Returns a condition: the attribute equals the default."""
    if field.default is None:
        return f"{value} is None"
    if field.is_array:
        return f"{value} is not None and not {value}" if is_optional(field) else f"not {value}"
    if field.struct is not None:
        return f"{value}.is_default()"
    if field.type == "bool":
        return value if field.default else f"not {value}"
    return is_set(value, field).replace(" != ", " == ")


def is_set(value: str, field: FieldSpec) -> str:
    """Returns a condition: the attribute differs from the default."""
    if field.default is None:
        return f"{value} is not None"
    if field.is_array:
        return f"{value} is None or {value}" if is_optional(field) else value
    if field.struct is not None:
        return f"not {value}.is_default()"
    if field.type == "bool":
        return f"not {value}" if field.default else value
    if field.default in ("", b""):
        return f'{value} != ""' if field.type == "string" else f'{value} != b""'
    return f"{value} != {default_text(field)}"


def condition(versions: Versions, reachable: Versions) -> str | None:
    """Returns when `version`, known to be in `reachable`, is in `versions`; None if always."""
    both = versions & reachable
    tests = []
    if both.lowest > reachable.lowest:
        tests.append(f"version >= {both.lowest}")
    if both.highest < reachable.highest:
        tests.append(f"version <= {both.highest}")
    if len(tests) == 2 and both.lowest == both.highest:
        return f"version == {both.lowest}"
    return " and ".join(tests) or None


def choose(
    versions: Versions,
    reachable: Versions,
    inside: Callable[[Versions], str],
    outside: Callable[[Versions], str],
) -> str:
    """Returns an expression that is one thing in `versions` and another outside of them."""
    both = versions & reachable
    if not both:
        return outside(reachable)
    test = condition(versions, reachable)
    if test is None:
        return inside(both)
    yes, no = inside(both), outside(_without(reachable, both))
    if yes == no:
        return yes
    return f"({yes} if {test} else {no})"


def _without(reachable: Versions, removed: Versions) -> Versions:
    if removed.lowest == reachable.lowest:
        return Versions(removed.highest + 1, reachable.highest)
    if removed.highest == reachable.highest:
        return Versions(reachable.lowest, removed.lowest - 1)
    return reachable


def read_expression(field: FieldSpec, flexible: Versions, reachable: Versions) -> str:
    """Returns the expression that reads the field, for every version in `reachable`."""
    return choose(
        field.nullable,
        reachable,
        lambda some: choose(
            flexible,
            some,
            lambda _: _read(field, True, True, some),
            lambda _: _read(field, False, True, some),
        ),
        lambda some: choose(
            flexible,
            some,
            lambda _: _read(field, True, False, some),
            lambda _: _read(field, False, False, some),
        ),
    )


def _read(field: FieldSpec, flexible: bool, nullable: bool, reachable: Versions) -> str:
    style = ("compact_" if flexible else "") + ("nullable_" if nullable else "")
    if not field.is_array:
        if field.struct is not None:
            plain = f"{field.element}.read(reader, version)"
            return f"({plain} if reader.read_int8() >= 0 else None)" if nullable else plain
        if field.type in ("string", "bytes", "records"):
            return f"reader.read_{style}{'string' if field.type == 'string' else 'bytes'}()"
        return f"reader.read_{field.type}()"
    if field.struct is not None:
        element = f"{field.element}.read(reader, version)"
    elif field.element in ("string", "bytes"):
        element = f"reader.read_{'compact_' if flexible else ''}{field.element}()"
    else:
        element = f"reader.read_{field.element}()"
    size_min = element_size_min(field, flexible, reachable)
    length = f"reader.read_{style}array_length({size_min}, {element_cost(field)})"
    if nullable:
        return f"(None if (length := {length}) < 0 else [{element} for _ in range(length)])"
    return f"[{element} for _ in range({length})]"


def element_size_min(field: FieldSpec, flexible: bool, reachable: Versions) -> int:
    """Returns the fewest bytes one value, or one element of an array, takes."""
    if field.struct is not None:
        return min(
            struct_size_min(field.struct, flexible, version)
            for version in range(reachable.lowest, min(reachable.highest, reachable.lowest + 64) + 1)
        )
    if field.element in _FIXED_SIZES:
        return _FIXED_SIZES[field.element]
    if flexible:
        return 1
    return 2 if field.element == "string" else 4


def element_cost(field: FieldSpec) -> int:
    """Returns the memory that one element of an array takes once it is decoded, with its place in the list.

    Strings and bytes count when they are read, and elements of arrays with their array: not here.
    """
    if field.struct is not None:
        return LIST_SLOT_COST + struct_cost(field.struct)
    return LIST_SLOT_COST + _VALUE_COSTS.get(field.element, 0)


def struct_cost(struct: StructSpec) -> int:
    """Returns the cost as if every field were there: a list is also made for one that the version does
    not have.
    """
    cost = _OBJECT_COST + 8 * (len(struct.fields) + 1)
    for field in struct.fields:
        if field.is_array:
            cost += _LIST_COST
        elif field.struct is not None:
            cost += struct_cost(field.struct)
        elif field.type in ("int64", "uuid"):
            cost += _VALUE_COSTS[field.type]
    return cost


def struct_size_min(struct: StructSpec, flexible: bool, version: int) -> int:
    """Returns the fewest bytes a struct takes in one version."""
    size = 1 if flexible else 0
    for field in struct.fields:
        if version not in field.versions or version in field.tagged:
            continue
        if field.is_array:
            size += 1 if flexible else 4
        elif field.struct is not None and version in field.nullable:
            size += 1
        else:
            size += element_size_min(field, flexible, Versions(version, version))
    return max(size, 1)


def _write_fixed(kind: str, out: str, value: str) -> str:
    """Writes a bool in place: a heartbeat has several, and a call costs more than the byte."""
    if kind == "bool":
        return f"{out}.append(1 if {value} else 0)"
    return f"{_WRITERS[kind]}({out}, {value})"


def write_statements(
    field: FieldSpec, value: str, out: str, flexible: Versions, reachable: Versions, never_null: bool = False
) -> list[str]:
    """Lines that append the field, for every version in `reachable`. `never_null`: None was ruled out."""
    if never_null:
        field = replace(field, nullable=NONE, type="bytes" if field.type == "records" else field.type)
    lines = []
    refused = negated(field.nullable, reachable) if field.nullable & reachable else "always"
    if is_optional(field) and refused is not None:
        if " or " in refused:
            refused = f"({refused})"
        also = "" if refused == "always" else f" and {refused}"
        lines += [f"if {value} is None{also}:", f'{INDENT}raise null_field("{field.name}", version)']
    if field.is_array:
        return lines + _write_array(field, value, out, flexible, reachable, bool(field.nullable & reachable))
    if field.struct is not None:
        return lines + _write_struct(field, value, out, reachable)
    if field.type in ("string", "bytes", "records"):
        kind = "string" if field.type == "string" else "bytes"
        style = "nullable_" if field.nullable & reachable else ""
        return lines + choose_lines(
            flexible,
            reachable,
            [f"write_compact_{style}{kind}({out}, {value})"],
            [f"write_{style}{kind}({out}, {value})"],
        )
    return [*lines, _write_fixed(field.type, out, value)]


def _write_struct(field: FieldSpec, value: str, out: str, reachable: Versions) -> list[str]:
    """Writes a nullable struct, which follows a byte: -1 for null, 1 otherwise."""
    write = f"{value}.write({out}, version)"
    marked = [f"if {value} is None:", f"{INDENT}write_int8({out}, -1)", "else:"]
    marked += [f"{INDENT}write_int8({out}, 1)", f"{INDENT}{write}"]
    return choose_lines(field.nullable, reachable, marked, [write])


def _write_array(
    field: FieldSpec, value: str, out: str, flexible: Versions, reachable: Versions, nullable: bool
) -> list[str]:
    compact, plain = (
        [f"write_uvarint({out}, len({value}) + 1)"],
        [f"write_i32_be({out}, len({value}))"],
    )
    item = f"{value.removeprefix('self.')}_item"
    if field.element in ("string", "bytes"):
        loop = f"for {item} in {value}:"
        body = choose_lines(
            flexible,
            reachable,
            [*compact, loop, f"{INDENT}write_compact_{field.element}({out}, {item})"],
            [*plain, loop, f"{INDENT}write_{field.element}({out}, {item})"],
        )
    else:
        body = choose_lines(flexible, reachable, compact, plain)
        write = (
            f"{item}.write({out}, version)"
            if field.struct is not None
            else _write_fixed(field.element, out, item)
        )
        body += [f"for {item} in {value}:", f"{INDENT}{write}"]
    if not nullable:
        return body
    null = choose_lines(flexible, reachable, [f"{out}.append(0)"], [f"write_i32_be({out}, -1)"])
    return [f"if {value} is None:", *indent(null), "else:", *indent(body)]


def choose_lines(versions: Versions, reachable: Versions, inside: list[str], outside: list[str]) -> list[str]:
    if not versions & reachable:
        return outside
    test = condition(versions, reachable)
    if test is None:
        return inside
    return [f"if {test}:", *indent(inside), "else:", *indent(outside)]


def negated(versions: Versions, reachable: Versions) -> str | None:
    """Returns when `version`, known to be in `reachable`, is not in `versions`; None if never."""
    both = versions & reachable
    tests = []
    if both.lowest > reachable.lowest:
        tests.append(f"version < {both.lowest}")
    if both.highest < reachable.highest:
        tests.append(f"version > {both.highest}")
    return " or ".join(tests) or None


def indent(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]
