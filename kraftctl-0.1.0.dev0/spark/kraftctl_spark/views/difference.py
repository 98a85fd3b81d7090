"""What differs between two states: a row per field, with both values as text.

Spark takes longer to plan and start a join for each kind than to read its rows. So there is one for
partitions, which are many and differ in a few fields: only those are made text. Of all other kinds, every
field is made text, and one table of both states is grouped.
"""

from __future__ import annotations

import pyarrow as pa

from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.history.versions.kinds import (
    CONFIGS,
    KINDS,
    PARTITIONS,
    QUORUM,
    TOPICS,
    Kind,
)
from kraftctl_spark.views.log import LogHistory

_NAMES = {
    "topics": "topic",
    "configs": "concat_ws(' ', resource_type, nullif(resource_name, ''), name)",
    "acls": "concat_ws(' ', principal, permission, operation, resource_type, resource_name)",
    "quotas": "concat(array_join(transform(entity, e -> concat(e.entity_type, '=', "
    "coalesce(e.entity_name, '<default>'))), ' '), ' ', key)",
}
"""The column with a row's name for people, where that is not its key."""

_COMPARED = tuple(kind for kind in KINDS if kind not in (PARTITIONS, QUORUM))
"""The kinds besides partitions. The leader of the quorum is not metadata."""

_KEYS = {CONFIGS: ("resource_type", "resource_name", "topic_id", "name")}
"""The keys that are more than the key of the history: a topic that was created again is another one."""


def difference(before: LogHistory, after: LogHistory) -> str:
    """Compares both states, rows by key and field by field: of the tables that are known at both points."""
    found = f"{_of_partitions(before, after)} UNION ALL {_of_others(before, after)}"
    lost = sorted(before.lost | after.lost)
    if not lost:
        return found
    names = ", ".join(f"'{name}'" for name in lost)
    known = f"view NOT IN ({names})"
    if PARTITIONS.name in lost:
        known += " AND NOT (view = 'topics' AND field = 'partitions')"
    return f"SELECT * FROM ({found}) WHERE {known}"


def _of_partitions(before: LogHistory, after: LogHistory) -> str:
    """Compares partitions by a hash before the topic ids, which sorts them in half the time."""
    fields = _fields(PARTITIONS)
    both = ", ".join(f"b.{name} AS {name}_before, a.{name} AS {name}_after" for name in fields)
    differing = ", ".join(
        f"CASE WHEN NOT ({name}_before <=> {name}_after) THEN struct('{name}' AS field, "
        f"{_text(f'{name}_before', kind)} AS before, {_text(f'{name}_after', kind)} AS after) END"
        for name, kind in fields.items()
    )
    columns = f"xxhash64(topic_id, partition_id) AS hash, {', '.join(fields)}"
    table = before.table(PARTITIONS.name)
    return f"""
        SELECT 'partitions' AS view, to_json(struct(topic_id, partition_id)) AS key,
               concat(topic, '-', partition_id) AS name, change, field, before, after
        FROM (
            SELECT topic_id, partition_id, topic, change, inline(array_compact(array({differing})))
            FROM (
                SELECT coalesce(a.topic_id, b.topic_id) AS topic_id, coalesce(a.topic, b.topic) AS topic,
                       coalesce(a.partition_id, b.partition_id) AS partition_id,
                       CASE WHEN b.hash IS NULL THEN 'added' WHEN a.hash IS NULL THEN 'removed'
                            ELSE 'changed' END AS change, {both}
                FROM (SELECT {columns} FROM {table} WHERE {before.valid_but_not(after)}) b
                FULL OUTER JOIN (SELECT {columns} FROM {table} WHERE {after.valid_but_not(before)}) a
                ON a.hash = b.hash AND a.topic_id = b.topic_id AND a.partition_id = b.partition_id
            )
        )"""


def _of_others(before: LogHistory, after: LogHistory) -> str:
    states = " UNION ALL ".join(
        _as_fields(kind, _topics(before, after) if kind == TOPICS else _state(kind, before, after))
        for kind in _COMPARED
    )
    return f"""
        SELECT view, key, coalesce(max(if(later, name, NULL)), max(name)) AS name,
               CASE WHEN min(later) THEN 'added' WHEN NOT max(later) THEN 'removed'
                    ELSE 'changed' END AS change,
               field, max(if(later, NULL, value)) AS before, max(if(later, value, NULL)) AS after
        FROM ({states}) GROUP BY view, key, field HAVING NOT (before <=> after)"""


def _as_fields(kind: Kind, state: str) -> str:
    """Returns a row for each field of each row."""
    key = ", ".join(_KEYS.get(kind, kind.key))
    fields = ", ".join(
        f"struct('{name}' AS field, {_text(name, kind_of)} AS value)"
        for name, kind_of in _fields(kind).items()
    )
    name = _NAMES.get(kind.name) or _key_text(kind)
    return f"""
        SELECT '{kind.name}' AS view, {f"to_json(struct({key}))" if key else "'{}'"} AS key,
               {name} AS name, later, inline(array({fields})) FROM ({state})"""


def _key_text(kind: Kind) -> str:
    if not kind.key:
        assert kind.set_by is not None
        return f"'{kind.set_by.subject}'"
    parts = ", ".join(f"CAST({name} AS STRING)" for name in kind.key)
    return f"concat_ws(' ', {parts})"


def _state(kind: Kind, before: LogHistory, after: LogHistory) -> str:
    """Returns the versions that are valid at one of the points, and whether that is the second one."""
    return f"""
        SELECT {", ".join(_fields(kind))}, {after.valid()} AS later FROM {before.table(kind.name)}
        WHERE ({before.valid_but_not(after)}) OR ({after.valid_but_not(before)})"""


def _topics(before: LogHistory, after: LogHistory) -> str:
    """Returns topics; one that is valid at both has two rows if the number of partitions differs."""
    counts = f"""
        SELECT topic_id, CAST(count_if({before.valid()}) AS INT) AS before,
               CAST(count_if({after.valid()}) AS INT) AS after
        FROM {before.table(PARTITIONS.name)} WHERE {before.valid()} OR {after.valid()} GROUP BY topic_id"""
    return f"""
        SELECT topic_id, topic, coalesce(if(later, after, before), 0) AS partitions, later
        FROM (
            SELECT topic_id, topic, NOT (at_first AND at_second) AS at_one,
                   explode(CASE WHEN at_first AND at_second THEN array(false, true)
                                WHEN at_first OR at_second THEN array(at_second) END) AS later
            FROM (SELECT topic_id, topic, {before.valid()} AS at_first, {after.valid()} AS at_second
                  FROM {before.table(TOPICS.name)})
        ) LEFT JOIN ({counts}) USING (topic_id)
        WHERE at_one OR before <> after"""


def _fields(kind: Kind) -> dict[str, pa.DataType]:
    """Returns the fields of the state, with their types."""
    fields = {name: SCHEMAS[kind.name].field(name).type for name in (*kind.key, *kind.values)}
    return fields | ({"partitions": pa.int32()} if kind == TOPICS else {})


def _text(value: str, kind: pa.DataType) -> str:
    """Returns text as JSON has it, without quotes."""
    if pa.types.is_list(kind):
        return f"to_json({value})"
    if pa.types.is_timestamp(kind):
        return f"get_json_object(to_json(struct({value} AS value)), '$.value')"
    return f"CAST({value} AS STRING)"
