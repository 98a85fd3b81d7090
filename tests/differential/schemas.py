"""The messages and metadata records of one Kafka release, as its jars describe them."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

VERSION_MAX = 32767
COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
KINDS = {"request", "response", "metadata", "header", "data"}


@dataclass(frozen=True)
class Versions:
    """The versions from `first` to `last`, both inclusive."""

    first: int
    last: int

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last


NO_VERSIONS = Versions(1, 0)


def versions(text: str) -> Versions:
    """Reads `3`, `0-4`, `2+` and `none`."""
    if text == "none":
        return NO_VERSIONS
    first, _, last = text.rstrip("+").partition("-")
    return Versions(int(first), VERSION_MAX if text.endswith("+") else int(last or first))


@dataclass
class Field:
    """One field; `struct` has the fields of a structure, or of the elements of an array of structures."""

    name: str
    type: str
    versions: Versions
    nullable: Versions
    tagged: Versions
    tag: int
    flexible: Versions | None
    default: Any
    struct: list[Field] = field(default_factory=list)

    @cached_property
    def element(self) -> Field:
        """What an array has as its elements."""
        return Field(
            self.name, self.type[2:], self.versions, NO_VERSIONS, NO_VERSIONS, -1, None, None, self.struct
        )


@dataclass
class Schema:
    """One message."""

    name: str
    kind: str
    api_key: int
    valid: Versions
    flexible: Versions
    fields: list[Field]
    listeners: list[str]


@dataclass
class Schemas:
    """All messages of a release: requests and responses by key, records by key, others by name."""

    requests: dict[int, Schema] = field(default_factory=dict)
    responses: dict[int, Schema] = field(default_factory=dict)
    records: dict[int, Schema] = field(default_factory=dict)
    named: dict[str, Schema] = field(default_factory=dict)

    def api_name(self, api_key: int) -> str:
        return self.requests[api_key].name.removesuffix("Request")


def read_schemas(classpath: str) -> Schemas:
    """Reads the schemas in the jars kafka-clients and kafka-metadata of a class path."""
    found = Schemas()
    for jar in classpath.split(":"):
        if not re.fullmatch(r"kafka-(clients|metadata)-[\d.]+\.jar", Path(jar).name):
            continue
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if re.fullmatch(r"common/(message|metadata)/\w+\.json", name):
                    _add(found, json.loads(COMMENT.sub("", archive.read(name).decode())))
    return found


def _add(found: Schemas, described: dict[str, Any]) -> None:
    if described.get("type") not in KINDS or "fields" not in described:
        return
    structs = {each["name"]: each["fields"] for each in described.get("commonStructs", [])}
    schema = Schema(
        described["name"],
        described["type"],
        described.get("apiKey", -1),
        versions(described["validVersions"]),
        versions(described.get("flexibleVersions", "none")),
        [_field(each, structs) for each in described["fields"]],
        described.get("listeners", []),
    )
    found.named[schema.name] = schema
    by_key = {"request": found.requests, "response": found.responses, "metadata": found.records}
    if schema.kind in by_key:
        by_key[schema.kind][schema.api_key] = schema


def _field(described: dict[str, Any], structs: dict[str, list[dict[str, Any]]]) -> Field:
    type_name = sys.intern(described["type"].replace(" ", ""))
    base = type_name.removeprefix("[]")
    inner = described.get("fields") or structs.get(base, [])
    tagged = versions(described.get("taggedVersions", "none"))
    return Field(
        described["name"],
        type_name,
        versions(described.get("versions", "0+")),
        versions(described.get("nullableVersions", "none")),
        tagged,
        described.get("tag", -1),
        versions(described["flexibleVersions"]) if "flexibleVersions" in described else None,
        _default(type_name, described.get("default"), [_field(each, structs) for each in inner]),
        [_field(each, structs) for each in inner],
    )


def _default(type_name: str, text: Any, struct: list[Field]) -> Any:
    if type_name.startswith("[]"):
        return None if text == "null" else []
    if text == "null":
        return None
    if type_name == "bool":
        return text in (True, "true")
    if type_name == "float64":
        return float(text or 0)
    if type_name == "string":
        return text or ""
    if type_name in ("bytes", "records"):
        return b"" if type_name == "bytes" else None
    if type_name == "uuid":
        return ZERO_UUID
    if struct:
        return {each.name: each.default for each in struct}
    return int(text, 0) if isinstance(text, str) and text else int(text or 0)


ZERO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"
