"""Leader elections of partitions: clean, unclean, or from the eligible leader replicas (KIP-966)."""

from __future__ import annotations

from tests.spark.oracle.log import Log
from tests.spark.oracle.partitions import partition_states

_KIND = """CASE WHEN given_recovery_state = 1 THEN 'unclean'
                WHEN array_contains(old_isr, leader) THEN 'clean'
                WHEN array_contains(old_elr, leader) THEN 'elr'
                WHEN leader_recovery_state = 1 THEN 'unclean' ELSE 'clean' END"""
"""A partition that is already recovering does not repeat it. A replica that completes a reassignment can join
the ISR and become leader in the same record: that election is clean."""

_CAUSE = """CASE WHEN old_leader = -1 THEN 'leaderless'
                 WHEN NOT array_contains(replicas, old_leader) THEN 'reassigned'
                 WHEN NOT array_contains(isr, old_leader) THEN 'failover'
                 WHEN leader = get(replicas, 0) THEN 'preferred' ELSE 'moved' END"""


def elections(log: Log) -> str:
    return f"""
        SELECT at AS offset, time, topic_id, topic, partition_id, old_leader, leader AS new_leader,
               leader_epoch, {_KIND} AS kind, {_CAUSE} AS cause
        FROM ({partition_states(log)})
        WHERE old_leader IS NOT NULL AND leader <> old_leader AND leader >= 0"""


def elections_per_broker(log: Log) -> str:
    return f"""
        SELECT broker_id, count_if(won) AS elected, count_if(won AND kind = 'clean') AS clean,
               count_if(won AND kind = 'unclean') AS unclean, count_if(won AND kind = 'elr') AS from_elr,
               count_if(won AND cause = 'preferred') AS preferred, count_if(NOT won) AS lost
        FROM (
            SELECT explode(array(struct(leader AS broker_id, true AS won),
                                 struct(old_leader AS broker_id, false AS won))) AS side, kind, cause
            FROM (SELECT leader, old_leader, {_KIND} AS kind, {_CAUSE} AS cause
                  FROM ({partition_states(log)}) WHERE old_leader IS NOT NULL AND leader <> old_leader)
        ) LATERAL VIEW inline(array(side)) AS broker_id, won
        WHERE broker_id >= 0 GROUP BY broker_id"""
