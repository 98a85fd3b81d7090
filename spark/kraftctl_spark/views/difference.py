"""What differs between two states: a row per field, with both values as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa

from kraftctl_spark.history.kinds import KINDS, TOPICS
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.views.log import Log

_KEYS = {
    "topics": ("topic_id",),
    "partitions": ("topic_id", "partition_id"),
    "brokers": ("broker_id",),
    "controllers": ("controller_id",),
    "configs": ("resource_type", "resource_name", "topic_id", "name"),
    "acls": ("id",),
    "quotas": ("entity", "key"),
    "features": ("name",),
    "scram_credentials": ("user", "mechanism"),
    "delegation_tokens": ("token_id",),
    "producer_ids": (),
}

_NAMES = {
    "topics": "topic",
    "partitions": "concat(topic, '-', partition_id)",
    "brokers": "CAST(broker_id AS STRING)",
    "controllers": "CAST(controller_id AS STRING)",
    "configs": "concat_ws(' ', resource_type, nullif(resource_name, ''), name)",
    "acls": "concat_ws(' ', principal, permission, operation, resource_type, resource_name)",
    "quotas": "concat(array_join(transform(entity, e -> concat(e.entity_type, '=', "
    "coalesce(e.entity_name, '<default>'))), ' '), ' ', key)",
    "features": "name",
    "scram_credentials": "concat(user, ' ', mechanism)",
    "delegation_tokens": "token_id",
    "producer_ids": "'producer ids'",
}

_OF_OTHERS = ("topics",)
"""Views with a field that other versions can change: how many partitions there are."""


def difference(views: Mapping[str, Callable[[Log], str]], before: Log, after: Log) -> str:
    """Compares a view at both points, rows by key and field by field: those that are valid at one of them."""
    only_before, only_after = replace(before, other=after.as_of), replace(after, other=before.as_of)
    return " UNION ALL ".join(
        _difference(name, view, before, after)
        if name in _OF_OTHERS
        else _difference(name, view, only_before, only_after)
        for name, view in views.items()
    )


def _difference(name: str, view: Callable[[Log], str], before: Log, after: Log) -> str:
    """A field is made text only where it differs."""
    fields = ", ".join(
        f"CASE WHEN NOT (b.{field} <=> a.{field}) THEN struct('{field}' AS field, "
        f"{_text(f'b.{field}', kind)} AS before, {_text(f'a.{field}', kind)} AS after) END"
        for field, kind in _fields(name).items()
    )
    return f"""
        SELECT '{name}' AS view, coalesce(b.the_key, a.the_key) AS key,
               coalesce(a.the_name, b.the_name) AS name,
               CASE WHEN b.the_key IS NULL THEN 'added' WHEN a.the_key IS NULL THEN 'removed'
                    ELSE 'changed' END AS change,
               inline(array_compact(array({fields})))
        FROM ({_named(name, view(before))}) b FULL OUTER JOIN ({_named(name, view(after))}) a
             ON a.the_key = b.the_key"""


def _named(name: str, state: str) -> str:
    """A row with its key as JSON, and with a name for people."""
    columns = ", ".join(_KEYS[name])
    key = f"to_json(struct({columns}))" if columns else "'{}'"
    return f"SELECT *, {key} AS the_key, {_NAMES[name]} AS the_name FROM ({state})"


def _fields(name: str) -> dict[str, pa.DataType]:
    """The columns of a view that are part of the state, with their types."""
    (kind,) = (kind for kind in KINDS if kind.name == name)
    fields = {field: SCHEMAS[name].field(field).type for field in (*kind.key, *kind.values)}
    return fields | ({"partitions": pa.int32()} if kind == TOPICS else {})


def _text(value: str, kind: pa.DataType) -> str:
    """As JSON has it, without quotes."""
    if pa.types.is_list(kind):
        return f"to_json({value})"
    if pa.types.is_timestamp(kind):
        return f"get_json_object(to_json(struct({value} AS value)), '$.value')"
    return f"CAST({value} AS STRING)"
