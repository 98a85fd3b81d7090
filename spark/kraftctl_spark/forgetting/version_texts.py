"""A version of the history without a name: its key and values as if its records had the pseudonym."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from kraftctl_protocol.config_resource import NAMES as CONFIG_RESOURCES
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.record_types import (
    ACL_RESOURCE,
    CONFIG_RESOURCE,
    OTHER,
    TOPIC_NAME,
    USER,
)
from kraftctl_protocol.secrets import REDACTED
from kraftctl_spark.forgetting.record_texts import LITERAL, TOPIC_RESOURCE, USER_ENTITY
from kraftctl_spark.forgetting.wanted_name import WantedName
from kraftctl_spark.history.versions.brokers import by_name
from kraftctl_spark.history.versions.kinds import CONFIGS, PARTITIONS, Kind
from kraftctl_spark.history.versions.versions import Version
from kraftctl_spark.rows.kafka_names import ACL_RESOURCES, PATTERN_TYPES
from kraftctl_spark.rows.redaction import is_redacted

Row = dict[str, Any]
Inner = dict[str, str]
"""What the fields within a column have; "" is the column itself."""

_ON_LITERAL_TOPIC: Final = (ACL_RESOURCES[TOPIC_RESOURCE], PATTERN_TYPES[LITERAL])


@cache
def texts_of_kind(kind: Kind) -> dict[str, Inner]:
    """Returns what each column with texts has, as the rows of record types say it of their fields."""
    if kind is PARTITIONS:
        return {"topic": {"": TOPIC_NAME}}
    found: dict[str, Inner] = {}
    if kind.set_by is not None:
        columns = dict((*kind.set_by.key, *kind.set_by.values))
        for path, what in kind.set_by.texts.items():
            field, _, inner = path.partition(".")
            if field in columns:
                found.setdefault(columns[field], {})[inner] = what
    return found


def version_without(kind: Kind, version: Version, name: WantedName) -> Version:
    """Returns the version without the name, as far as that is replaced; itself if nothing is."""
    row = dict(zip((*kind.key, *kind.values), (*version.key, *version.values), strict=True))
    new = {**row}
    for column, inner in texts_of_kind(kind).items():
        new[column] = _without(name, row[column], {field: _kind(row, what) for field, what in inner.items()})
    if new == row:
        return version
    if kind is CONFIGS and is_redacted(row["value"] or ""):
        new["value"] = REDACTED  # A digest is one of the name, too.
    key, values = (tuple(new[column] for column in columns) for columns in (kind.key, kind.values))
    return version._replace(key=key, values=values)


def _kind(row: Row, what: str) -> str:
    """Returns what a column has in this row, where that depends on others."""
    if what == ACL_RESOURCE:
        return TOPIC_NAME if (row["resource_type"], row["pattern_type"]) == _ON_LITERAL_TOPIC else OTHER
    if what == CONFIG_RESOURCE:
        return TOPIC_NAME if row["resource_type"] == CONFIG_RESOURCES[TOPIC] else OTHER
    return what


def _without(name: WantedName, value: Any, inner: Inner) -> Any:
    if isinstance(value, str):
        return name.without(value, inner[""])
    if isinstance(value, tuple):
        return entity_without(name, value)
    if not isinstance(value, list) or "" in inner:
        return value if value is None else [name.without(text, inner[""]) for text in value]
    new = [
        {field: name.without(one, inner[field]) if field in inner else one for field, one in part.items()}
        for part in value
    ]
    return by_name(new) if new != value else value


def entity_without(
    name: WantedName, entity: tuple[tuple[str, str | None], ...]
) -> tuple[tuple[str, str | None], ...]:
    """Returns the entity of a quota without the name: a user is one if its type says so."""
    return tuple(
        sorted(
            (
                name.without(kind, OTHER),
                one if one is None else name.without(one, USER if kind == USER_ENTITY else OTHER),
            )
            for kind, one in entity
        )
    )
