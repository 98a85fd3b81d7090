"""State that one record sets or removes as a whole under a key: the last record of a key determines it."""

from __future__ import annotations

from kraftctl_protocol.scram import MECHANISM_NAMES
from kraftctl_spark.rows.columns import FIRST_DATE_MS, LAST_DATE_MS
from kraftctl_spark.rows.kafka_names import ACL_RESOURCES, OPERATIONS, PATTERN_TYPES, PERMISSIONS
from kraftctl_spark.views.kafka_names import named
from tests.spark.oracle.log import Log


def _last(events: str, key: str, wanted: str = "true") -> str:
    """The last event of each key, unless it removes the key."""
    return f"""
        SELECT * FROM (SELECT *, lead(at) OVER (PARTITION BY {key} ORDER BY at) IS NULL AS is_last
                       FROM ({events})) WHERE is_last AND {wanted}"""


def controllers(log: Log) -> str:
    return f"""
        SELECT controller_id, incarnation_id, zk_migration_ready,
               array_sort(end_points) AS end_points, array_sort(features) AS features
        FROM ({_last(f"SELECT * FROM {log.rows('register_controller_record')}", "controller_id")})"""


def features(log: Log) -> str:
    """Level 0 removes a feature, except metadata.version. kraft.version comes from the quorum's records."""
    return f"""
        SELECT name, feature_level AS level
        FROM ({_last(f"SELECT * FROM {log.rows('feature_level_record')}", "name")})
        WHERE name <> 'kraft.version' AND (feature_level > 0 OR name = 'metadata.version')"""


def quotas(log: Log) -> str:
    events = f"SELECT *, array_sort(entity) AS who FROM {log.rows('client_quota_record')}"
    return f"""
        SELECT who AS entity, key, value FROM ({_last(events, "who, key", "NOT remove")})"""


def acls(log: Log) -> str:
    events = f"""
        SELECT at, id, resource_type, resource_name, pattern_type, principal, host, operation, permission_type
        FROM {log.rows("access_control_entry_record")}
        UNION ALL
        SELECT at, id, NULL, NULL, NULL, NULL, NULL, NULL, NULL
        FROM {log.rows("remove_access_control_entry_record")}"""
    return f"""
        SELECT id, {named("resource_type", ACL_RESOURCES)} AS resource_type, resource_name,
               {named("pattern_type", PATTERN_TYPES)} AS pattern_type, principal, host,
               {named("operation", OPERATIONS)} AS operation,
               {named("permission_type", PERMISSIONS)} AS permission
        FROM ({_last(events, "id", "principal IS NOT NULL")})"""


def scram_credentials(log: Log) -> str:
    events = f"""
        SELECT at, name, mechanism, iterations FROM {log.rows("user_scram_credential_record")}
        UNION ALL
        SELECT at, name, mechanism, NULL FROM {log.rows("remove_user_scram_credential_record")}"""
    return f"""
        SELECT name AS user, {named("mechanism", MECHANISM_NAMES)} AS mechanism, iterations
        FROM ({_last(events, "name, mechanism", "iterations IS NOT NULL")})"""


def delegation_tokens(log: Log) -> str:
    events = f"""
        SELECT at, token_id, owner, requester, renewers, issue_timestamp, max_timestamp, expiration_timestamp
        FROM {log.rows("delegation_token_record")}
        UNION ALL
        SELECT at, token_id, NULL, NULL, NULL, NULL, NULL, NULL
        FROM {log.rows("remove_delegation_token_record")}"""
    return f"""
        SELECT token_id, owner, requester, renewers, {_date("issue_timestamp")} AS issue_time,
               {_date("max_timestamp")} AS max_time, {_date("expiration_timestamp")} AS expiration_time
        FROM ({_last(events, "token_id", "owner IS NOT NULL")})"""


def _date(column: str) -> str:
    """Null for a number that is no date: a token without expiration has one beyond the year 9999."""
    known = f"{column} BETWEEN {FIRST_DATE_MS} AND {LAST_DATE_MS}"
    return f"timestamp_millis(CASE WHEN {known} THEN {column} END)"


def producer_ids(log: Log) -> str:
    return f"""
        SELECT next_producer_id FROM (
            SELECT max_by(next_producer_id, at) AS next_producer_id FROM {log.rows("producer_ids_record")}
        ) WHERE next_producer_id IS NOT NULL"""
