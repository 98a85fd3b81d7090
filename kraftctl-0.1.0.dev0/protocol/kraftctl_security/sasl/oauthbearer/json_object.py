"""JSON objects from outside are parsed as strictly as RFC 8259 says, and have each name once."""

from __future__ import annotations

import json
from typing import TypeAlias

JsonObject: TypeAlias = dict[str, object]


class JsonObjectError(Exception):
    """The text is not a JSON object. It is not part of the error, because it may have a secret."""


def parse_json_object(text: bytes) -> JsonObject:
    """Raises JsonObjectError, also for a repeated name, of which each reader could take another value."""
    try:
        found = json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise JsonObjectError("it is not the JSON of an object with each name once") from error
    if not isinstance(found, dict):
        raise JsonObjectError("its JSON is not an object")
    return found


def _unique(pairs: list[tuple[str, object]]) -> JsonObject:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
