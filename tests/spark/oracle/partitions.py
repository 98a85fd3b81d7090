"""Partitions: all their states, by Kafka's rules for PartitionChangeRecord (KIP-631, KIP-966)."""

from __future__ import annotations

from tests.spark.oracle.log import Log
from tests.spark.oracle.topics import topic_lives

MIGRATING = "AAAAAAAAAAAAAAAAAAAAAA"
"""Directory id of a replica whose directory the controller does not know yet (KIP-858)."""

_CARRIED = (
    "leader",
    "leader_recovery_state",
    "replicas",
    "isr",
    "adding_replicas",
    "removing_replicas",
    "eligible_leader_replicas",
    "last_known_elr",
    "directories",
)
"""Fields that keep their value when a change does not set them."""

_NONE = "CAST(array() AS ARRAY<INT>)"
_WINDOW = "(PARTITION BY range_start, topic_id, partition_id ORDER BY at)"
_SO_FAR = "(PARTITION BY range_start, topic_id, partition_id ORDER BY at ROWS UNBOUNDED PRECEDING)"

STATE = """leader, leader_epoch, partition_epoch, leader_recovery_state, replicas, isr,
               adding_replicas, removing_replicas, elr, last_known_elr, directories"""


def _given(log: Log) -> str:
    """The fields of each record: all of them in a PartitionRecord, otherwise null for unchanged ones."""
    return f"""
        SELECT range_start, at, time, topic_id, partition_id,
               CASE WHEN in_snapshot THEN 'snapshot' ELSE 'PartitionRecord' END AS source,
               leader, coalesce(leader_recovery_state, 0) AS leader_recovery_state, replicas, isr,
               coalesce(adding_replicas, {_NONE}) AS adding_replicas,
               coalesce(removing_replicas, {_NONE}) AS removing_replicas,
               coalesce(eligible_leader_replicas, {_NONE}) AS eligible_leader_replicas,
               coalesce(last_known_elr, {_NONE}) AS last_known_elr,
               coalesce(directories, CAST(array() AS ARRAY<STRING>)) AS directories,
               leader_epoch AS first_leader_epoch, partition_epoch AS first_partition_epoch, 0 AS led_anew
        FROM {log.rows("partition_record")}
        UNION ALL
        SELECT range_start, at, time, topic_id, partition_id, 'PartitionChangeRecord',
               nullif(leader, -2), nullif(leader_recovery_state, -1), replicas, isr,
               adding_replicas, removing_replicas, eligible_leader_replicas, last_known_elr, directories,
               NULL, NULL, CASE WHEN leader <> -2 THEN 1 ELSE 0 END
        FROM {log.rows("partition_change_record")}"""


def _cleared(log: Log) -> str:
    """A ClearElrRecord as a change of each partition that it can affect: those that once had an ELR."""
    return f"""
        SELECT c.range_start, c.at, c.time, e.topic_id, e.partition_id, 'ClearElrRecord',
               NULL, NULL, NULL, NULL, NULL, NULL, {_NONE}, {_NONE}, NULL, NULL, NULL, 0
        FROM {log.rows("clear_elr_record")} c
        JOIN ({topic_lives(log)}) t ON t.range_start = c.range_start AND c.topic_name IN ('', t.topic)
             AND c.at > t.start_at AND (t.end_at IS NULL OR c.at < t.end_at)
        JOIN (SELECT range_start, topic_id, partition_id, min(at) AS since FROM ({_given(log)})
              WHERE size(eligible_leader_replicas) > 0 OR size(last_known_elr) > 0
              GROUP BY range_start, topic_id, partition_id) e
             ON e.range_start = c.range_start AND e.topic_id = t.topic_id AND c.at > e.since"""


def partition_states(log: Log) -> str:
    """Each state with the previous one (`old_...`, null for the first state) and how it ended.

    A record that sets the leader, even to the same one, raises the leader epoch; every change raises the
    partition epoch. A ClearElrRecord changes nothing where there is nothing to clear.
    """
    changes = _given(log)
    if "clear_elr_record" in log.tables:
        changes += f" UNION ALL {_cleared(log)}"
    carried = ", ".join(f"last_value({name}, true) OVER {_SO_FAR} AS {name}" for name in _CARRIED)
    previous = ", ".join(f"lag({name}) OVER {_WINDOW} AS old_{name}" for name in _CARRIED)
    return f"""
        WITH carried AS (
            SELECT range_start, at, time, topic_id, partition_id, source, first_leader_epoch,
                   first_partition_epoch, leader_recovery_state AS given_recovery_state,
                   sum(led_anew) OVER {_SO_FAR} AS led_anew, {carried}
            FROM ({changes})
        ), compared AS (
            SELECT *, {previous},
                   led_anew + last_value(first_leader_epoch - led_anew, true) OVER {_SO_FAR} AS leader_epoch
            FROM carried
        ), numbered AS (
            SELECT *, row_number() OVER {_WINDOW} AS number FROM compared
            WHERE source <> 'ClearElrRecord'
                  OR size(old_eligible_leader_replicas) > 0 OR size(old_last_known_elr) > 0
        ), followed AS (
            SELECT *, number + last_value(first_partition_epoch - number, true) OVER {_SO_FAR} AS epoch,
                   lead(at) OVER {_WINDOW} AS next_at, lead(time) OVER {_WINDOW} AS next_time,
                   lead(replicas) OVER {_WINDOW} AS next_replicas
            FROM numbered
        )
        SELECT s.range_start, s.at, s.time, s.topic_id, t.topic, s.partition_id, s.source,
               s.given_recovery_state, s.leader, CAST(s.leader_epoch AS INT) AS leader_epoch,
               CAST(s.epoch AS INT) AS partition_epoch,
               s.leader_recovery_state, s.replicas, s.isr, s.adding_replicas, s.removing_replicas,
               s.eligible_leader_replicas AS elr, s.last_known_elr,
               CASE WHEN forall(s.directories, id -> id = '{MIGRATING}')
                    THEN array_repeat('{MIGRATING}', size(s.replicas)) ELSE s.directories END AS directories,
               s.old_leader, s.old_isr, s.old_eligible_leader_replicas AS old_elr, s.old_replicas,
               s.old_adding_replicas, s.old_removing_replicas, s.next_replicas,
               coalesce(s.next_at, t.end_at) AS end_at,
               coalesce(s.next_time, t.end_time, {log.end_time("s.range_start")}) AS end_time,
               CASE WHEN s.next_at IS NOT NULL THEN 'change' WHEN t.end_at IS NOT NULL THEN 'deleted'
                    ELSE {log.end_reason("s.range_start")} END AS ended_by
        FROM followed s
        JOIN ({topic_lives(log)}) t ON t.range_start = s.range_start AND t.topic_id = s.topic_id"""


def duration_ms(start: str, end: str) -> str:
    """SQL for a duration, null without both ends; 0 where the clock of a new leader is behind."""
    return f"if({end} < {start}, 0L, unix_millis({end}) - unix_millis({start}))"


def partition_history(log: Log) -> str:
    return f"""
        SELECT topic_id, topic, partition_id, at AS start_offset, time AS start_time,
               end_at AS end_offset, end_time, {duration_ms("time", "end_time")} AS duration_ms,
               source AS started_by, ended_by, {STATE}
        FROM ({partition_states(log)})"""


def partitions(log: Log) -> str:
    return f"""
        SELECT topic_id, topic, partition_id, {STATE}, at AS changed_offset, time AS changed_time
        FROM ({partition_states(log)}) WHERE end_at IS NULL"""
