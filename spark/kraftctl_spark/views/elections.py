"""Leader elections of partitions: clean, unclean, or from the eligible leader replicas (KIP-966)."""

from __future__ import annotations

from kraftctl_spark.history.versions.kinds import PARTITIONS
from kraftctl_spark.views.log import LogHistory

ELECTED, UNCLEAN, LOST = "leader elected", "unclean election", "leader lost"

_CAUSE = """CASE WHEN old_leader = -1 THEN 'leaderless'
                 WHEN NOT array_contains(replicas, old_leader) THEN 'reassigned'
                 WHEN NOT array_contains(isr, old_leader) THEN 'failover'
                 WHEN leader = get(replicas, 0) THEN 'preferred' ELSE 'moved' END"""


def elections(log: LogHistory) -> str:
    """Returns elections: at a record's offset one version of the partition ends and the next one begins.

    A replica that completes a reassignment can join the ISR and become leader in the same record: that
    election is clean.
    """
    events = f"""
        SELECT offset, CAST(before AS INT) AS old_leader, CAST(after AS INT) AS new_leader,
               kind = '{UNCLEAN}' AS unclean
        FROM {log.events(ELECTED, UNCLEAN)}"""
    return f"""
        SELECT offset, time, topic_id, topic, partition_id, old_leader, leader AS new_leader, leader_epoch,
               CASE WHEN unclean THEN 'unclean' WHEN from_elr THEN 'elr' ELSE 'clean' END AS kind, cause
        FROM (
            SELECT offset, valid_from_time AS time, topic_id, topic, partition_id, old_leader, leader,
                   leader_epoch, unclean, {_CAUSE} AS cause
            FROM ({events}) JOIN {log.versions(PARTITIONS)} ON valid_from_offset = offset
        ) LEFT JOIN (
            SELECT offset, true AS from_elr
            FROM ({events}) JOIN {log.versions(PARTITIONS)} ON valid_to_offset = offset
            WHERE NOT array_contains(isr, new_leader) AND array_contains(elr, new_leader)
        ) USING (offset)"""


def elections_per_broker(log: LogHistory) -> str:
    return f"""
        SELECT broker_id, count_if(won) AS elected, count_if(won AND kind = 'clean') AS clean,
               count_if(won AND kind = 'unclean') AS unclean, count_if(won AND kind = 'elr') AS from_elr,
               count_if(won AND cause = 'preferred') AS preferred, count_if(NOT won) AS lost
        FROM (
            SELECT new_leader AS broker_id, true AS won, kind, cause FROM ({elections(log)})
            UNION ALL
            SELECT CAST(before AS INT), false, NULL, NULL FROM {log.events(ELECTED, UNCLEAN, LOST)}
        ) WHERE broker_id >= 0 GROUP BY broker_id"""
