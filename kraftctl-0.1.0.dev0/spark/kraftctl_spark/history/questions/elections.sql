-- Every election of a partition's leader: of which kind, and why. An unclean one may have lost data.
-- The first leader of a partition is not elected. A replica that completes a reassignment can join the ISR and
-- become leader in the same record: that election is clean. That record ends one version and begins one: engines join
-- by its offset in half the time that all keys take.
WITH elected AS (
    SELECT e.offset AS offset, e.kind = 'unclean election' AS unclean,
           CAST(e.before AS INT) AS old_leader, CAST(e.after AS INT) AS new_leader
    FROM events e
    WHERE e.kind IN ('leader elected', 'unclean election')
),
from_elr AS (
    SELECT elected.offset AS offset
    FROM elected
    JOIN partitions ended ON ended.valid_to_offset = elected.offset
    WHERE NOT array_contains(ended.isr, new_leader) AND array_contains(ended.elr, new_leader)
)
SELECT elected.offset AS offset, began.valid_from_time AS time, began.topic_id, began.topic, began.partition_id,
       old_leader, began.leader AS new_leader, began.leader_epoch,
       CASE WHEN unclean THEN 'unclean' WHEN from_elr.offset IS NOT NULL THEN 'elr' ELSE 'clean' END AS kind,
       CASE WHEN old_leader = -1 THEN 'leaderless'
            WHEN NOT array_contains(began.replicas, old_leader) THEN 'reassigned'
            WHEN NOT array_contains(began.isr, old_leader) THEN 'failover'
            WHEN began.replicas[0] = began.leader THEN 'preferred'
            ELSE 'moved' END AS cause
FROM elected
JOIN partitions began ON began.valid_from_offset = elected.offset
LEFT JOIN from_elr ON from_elr.offset = elected.offset
