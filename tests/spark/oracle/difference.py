"""What differs between two states: a row per field, with both values as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.spark.oracle.log import Log

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

_WHERE_IT_STOOD = ("changed_offset", "changed_time", "created_offset", "created_time")
"""Not part of the state."""


def difference(views: Mapping[str, Callable[[Log], str]], before: Log, after: Log) -> str:
    """Compares a view at both points, rows by key and field by field."""
    return " UNION ALL ".join(_difference(name, view, before, after) for name, view in views.items())


def _difference(name: str, view: Callable[[Log], str], before: Log, after: Log) -> str:
    return f"""
        SELECT '{name}' AS view, key, name,
               CASE WHEN old IS NULL THEN 'added' WHEN new IS NULL THEN 'removed' ELSE 'changed' END
                   AS change,
               field, old[field] AS before, new[field] AS after
        FROM (
            SELECT *, explode(array_union(coalesce(map_keys(old), array()), coalesce(map_keys(new), array())))
                   AS field
            FROM (
                SELECT coalesce(b.key, a.key) AS key, coalesce(a.name, b.name) AS name,
                       b.fields AS old, a.fields AS new
                FROM ({_as_fields(name, view(before))}) b
                FULL OUTER JOIN ({_as_fields(name, view(after))}) a ON a.key = b.key
            )
        ) WHERE NOT (old[field] <=> new[field])"""


def _as_fields(name: str, state: str) -> str:
    """A row as its key, a name for people, and a map of all its fields as text."""
    pairs = ", ".join(_KEYS[name])
    key = f"to_json(struct({pairs}))" if pairs else "'{}'"
    fields = "from_json(to_json(struct(*)), 'MAP<STRING, STRING>')"
    places = ", ".join(f"'{column}'" for column in _WHERE_IT_STOOD)
    return f"""
        SELECT {key} AS key, {_NAMES[name]} AS name,
               map_filter({fields}, (field, value) -> NOT array_contains(array({places}), field)) AS fields
        FROM ({state})"""
