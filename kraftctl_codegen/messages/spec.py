"""The schema language, read strictly: JSON -> MessageSpec, StructSpec, FieldSpec, in Kafka's names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kraftctl_codegen.messages.versions import NONE, Versions

PRIMITIVES = frozenset(
    [
        "bool",
        "int8",
        "int16",
        "uint16",
        "uint32",
        "int32",
        "int64",
        "float64",
        "string",
        "uuid",
        "bytes",
        "records",
    ]
)
INTEGER_RANGES = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}
MESSAGE_TYPES = frozenset(
    ["request", "response", "header", "metadata", "data", "coordinator-key", "coordinator-value"]
)

Default = bool | int | float | str | bytes | None


class SchemaError(Exception):
    """A schema says something that the schema language does not know, or contradicts itself."""


@dataclass(frozen=True)
class FieldSpec:
    """One field; `element` is the type without the leading `[]` of an array."""

    name: str
    type: str
    versions: Versions
    nullable: Versions
    tagged: Versions
    flexible: Versions | None
    tag: int | None
    default: Default
    ignorable: bool
    map_key: bool
    entity_type: str | None
    zero_copy: bool
    struct: StructSpec | None

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    @property
    def element(self) -> str:
        return self.type.removeprefix("[]")


@dataclass(frozen=True)
class StructSpec:
    """A named group of fields that exists in `versions`."""

    name: str
    versions: Versions
    fields: tuple[FieldSpec, ...]


@dataclass(frozen=True)
class MessageSpec:
    """One schema file. `structs` holds every nested struct once, innermost first."""

    name: str
    type: str
    api_key: int | None
    valid: Versions
    flexible: Versions
    deprecated: Versions
    listeners: tuple[str, ...]
    latest_version_unstable: bool
    fields: tuple[FieldSpec, ...]
    structs: tuple[StructSpec, ...]

    @property
    def top(self) -> StructSpec:
        return StructSpec(self.name, self.valid, self.fields)


def load_message(path: Path) -> MessageSpec:
    """Reads one file of `schemas/`; SchemaError if any part is not understood."""
    try:
        return parse_message(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, SchemaError) as error:
        raise SchemaError(f"{path.name}: {error}") from error


def parse_message(raw: dict[str, Any]) -> MessageSpec:
    """Reads a schema that is already JSON values."""
    known = {
        "name",
        "type",
        "apiKey",
        "listeners",
        "validVersions",
        "flexibleVersions",
        "deprecatedVersions",
        "fields",
        "commonStructs",
        "latestVersionUnstable",
    }
    _refuse_unknown(raw, known, raw.get("name", "?"))
    if raw["type"] not in MESSAGE_TYPES:
        raise SchemaError(f"unknown message type {raw['type']!r}")
    valid = Versions.parse(raw["validVersions"])
    if "flexibleVersions" not in raw and valid:
        raise SchemaError("flexibleVersions is missing")
    reader = _StructReader(raw)
    fields = reader.fields(raw.get("fields", []), valid)
    return MessageSpec(
        name=raw["name"],
        type=raw["type"],
        api_key=raw.get("apiKey"),
        valid=valid,
        flexible=Versions.parse(raw.get("flexibleVersions", "none")),
        deprecated=Versions.parse(raw.get("deprecatedVersions", "none")),
        listeners=tuple(raw.get("listeners", ())),
        latest_version_unstable=bool(raw.get("latestVersionUnstable", False)),
        fields=fields,
        structs=tuple(reader.structs.values()),
    )


class _StructReader:
    """Collects the structs of one message while reading its fields."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.structs: dict[str, StructSpec] = {}
        self._pending = {struct["name"]: struct for struct in raw.get("commonStructs", [])}

    def fields(self, raw: list[dict[str, Any]], parent: Versions) -> tuple[FieldSpec, ...]:
        fields = tuple(self._field(one, parent) for one in raw)
        names = [one.name.lower() for one in fields]
        if len(set(names)) != len(names):
            raise SchemaError(f"two fields of one name among {names}")
        tags = sorted(one.tag for one in fields if one.tag is not None)
        if len(set(tags)) != len(tags):
            raise SchemaError(f"one tag used twice: {tags}")
        return fields

    def _field(self, raw: dict[str, Any], parent: Versions) -> FieldSpec:
        known = {
            "name",
            "type",
            "versions",
            "nullableVersions",
            "taggedVersions",
            "flexibleVersions",
            "tag",
            "default",
            "ignorable",
            "mapKey",
            "entityType",
            "zeroCopy",
            "fields",
        }
        _refuse_unknown(raw, known, raw.get("name", "?"))
        name, type_ = raw["name"], raw["type"]
        versions = Versions.parse(raw["versions"])
        nullable = Versions.parse(raw.get("nullableVersions", "none"))
        tagged = Versions.parse(raw.get("taggedVersions", "none"))
        tag = int(raw["tag"]) if "tag" in raw else None
        if (tag is None) != (not tagged):
            raise SchemaError(f"{name}: tag and taggedVersions belong together")
        element = type_.removeprefix("[]")
        if element in PRIMITIVES:
            if "fields" in raw:
                raise SchemaError(f"{name}: a {type_} has no fields")
            struct = None
        else:
            struct = self._struct(element, raw, versions & parent)
        if nullable and not (type_.startswith("[]") or struct or type_ in ("string", "bytes", "records")):
            raise SchemaError(f"{name}: a {type_} cannot be null")
        if nullable and struct is not None and not type_.startswith("[]") and raw.get("default") != "null":
            raise SchemaError(f"{name}: a struct that may be null must be null by default")
        flexible = Versions.parse(raw["flexibleVersions"]) if "flexibleVersions" in raw else None
        return FieldSpec(
            name=name,
            type=type_,
            versions=versions,
            nullable=nullable & versions,
            tagged=tagged,
            flexible=flexible,
            tag=tag,
            default=parse_default(name, type_, raw.get("default"), bool(nullable), struct),
            ignorable=_boolean(raw, "ignorable"),
            map_key=_boolean(raw, "mapKey"),
            entity_type=raw.get("entityType"),
            zero_copy=_boolean(raw, "zeroCopy"),
            struct=struct,
        )

    def _struct(self, name: str, raw: dict[str, Any], versions: Versions) -> StructSpec:
        if "fields" in raw:
            if name in self.structs or name in self._pending:
                raise SchemaError(f"struct {name} defined twice")
            struct = StructSpec(name, versions, self.fields(raw["fields"], versions))
        elif name in self._pending:
            common = self._pending.pop(name)
            _refuse_unknown(common, {"name", "versions", "fields"}, name)
            own = Versions.parse(common["versions"])
            struct = StructSpec(name, own, self.fields(common["fields"], own))
        elif name in self.structs:
            return self.structs[name]
        else:
            raise SchemaError(f"struct {name} is not defined")
        self.structs[name] = struct
        return struct


def parse_default(name: str, type_: str, raw: Any, nullable: bool, struct: StructSpec | None) -> Default:
    """Returns the default of the field; None if that is null.

    An array that is not null by default is empty (returned as b""); a struct that is not null by default is
    one of its own defaults (returned as "").
    """
    if raw == "null":
        if not nullable:
            raise SchemaError(f"{name}: default is null but no version is nullable")
        return None
    if type_.startswith("[]") or struct is not None or type_ in ("bytes", "records"):
        if raw not in (None, ""):
            raise SchemaError(f"{name}: a {type_} cannot default to {raw!r}")
        if type_ == "records":
            return None
        return "" if struct is not None and not type_.startswith("[]") else b""
    return _parse_scalar_default(name, type_, raw)


def _parse_scalar_default(name: str, type_: str, raw: Any) -> Default:
    if type_ == "bool":
        if str(raw).lower() not in ("none", "true", "false"):
            raise SchemaError(f"{name}: {raw!r} is no bool")
        return str(raw).lower() == "true"
    if type_ == "string":
        return "" if raw is None else str(raw)
    if type_ == "uuid":
        if raw not in (None, ""):
            raise SchemaError(f"{name}: uuid defaults other than zero are not supported")
        return bytes(16)
    if type_ == "float64":
        return float(raw or 0)
    value = int(str(raw if raw is not None else 0), 0)
    lowest, highest = INTEGER_RANGES[type_]
    if not lowest <= value <= highest:
        raise SchemaError(f"{name}: default {value} does not fit {type_}")
    return value


def walk_structs(message: MessageSpec) -> Iterator[StructSpec]:
    """Yields every struct, inner ones first, the message itself last."""
    yield from message.structs
    yield message.top


def _boolean(raw: dict[str, Any], key: str) -> bool:
    value = raw.get(key, False)
    if not isinstance(value, bool):
        raise SchemaError(f"{key} must be true or false, not {value!r}")
    return value


def _refuse_unknown(raw: dict[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(raw) - known)
    if unknown:
        raise SchemaError(f"{where}: unknown keys {unknown}")


__all__ = ["NONE", "FieldSpec", "MessageSpec", "SchemaError", "StructSpec", "load_message", "parse_message"]
