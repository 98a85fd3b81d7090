"""Reads dataclasses from the JSON of a file that can have been changed: each field has its declared type.

A check that a type is annotated with belongs to the type: every reader of such a field has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

Found = TypeVar("Found")
Read = Callable[[Any], Any]
"""Returns a value as its type has it; ValueError for one of another type."""


def parsed(data: bytes) -> dict[str, Any]:
    """Returns a JSON object; ValueError for anything else."""
    try:
        found = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return _object(found)


def read_as(kind: type[Found], value: object) -> Found:
    """Returns the value as a dataclass, with everything in it; ValueError for any other field or type."""
    declared: Any = kind
    found: Found = _reader(declared)(value)
    return found


def _object(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise ValueError("it is no JSON object")
    return value


@cache
def _reader(kind: Any) -> Read:
    if is_dataclass(kind):
        return _dataclass(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _checked(_reader(arguments[0]), arguments[1:])
    if origin is tuple:
        each = arguments[0] if arguments[1:] == (...,) else None
        return _each(_reader(each)) if each is not None else _together(tuple(map(_reader, arguments)))
    if origin is dict:
        return _values(_reader(arguments[1]))
    if origin in (Union, UnionType):
        (other,) = (one for one in arguments if one is not NoneType)
        return _or_none(_reader(other))
    return _plain(kind)


def _dataclass(kind: Any) -> Read:
    hints = get_type_hints(kind, include_extras=True)
    readers = {field.name: _reader(hints[field.name]) for field in fields_of(kind)}

    def read(value: Any) -> Any:
        found = {}
        for name, one in _object(value).items():
            if name not in readers:
                raise ValueError(f"{name} is no field of this release")
            try:
                found[name] = readers[name](one)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        try:
            return kind(**found)
        except TypeError as error:
            raise ValueError(str(error)) from None

    return read


def _plain(kind: type) -> Read:
    assert kind in (bool, int, str), kind

    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise ValueError(f"it is no {kind.__name__}")
        return value

    return read


def _checked(inner: Read, checks: tuple[Read, ...]) -> Read:
    def read(value: Any) -> Any:
        found = inner(value)
        for check in checks:
            found = check(found)
        return found

    return read


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise ValueError("it is no list")
    return value


def _each(inner: Read) -> Read:
    return lambda value: tuple(map(inner, _list(value)))


def _together(inner: tuple[Read, ...]) -> Read:
    def read(value: Any) -> Any:
        if len(_list(value)) != len(inner):
            raise ValueError(f"it has not {len(inner)} parts")
        return tuple(one(part) for one, part in zip(inner, value, strict=True))

    return read


def _values(inner: Read) -> Read:
    return lambda value: {name: inner(one) for name, one in _object(value).items()}


def _or_none(inner: Read) -> Read:
    return lambda value: None if value is None else inner(value)
