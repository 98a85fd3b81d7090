-- Every election of a partition's leader: of which kind, and why. An unclean one may have lost data.
-- The first leader of a partition is not elected. A replica that completes a reassignment can join the ISR and
-- become leader in the same record: that election is clean.
WITH elected AS (
    SELECT e.offset AS offset, e.time, e.topic_id, e.partition_id, e.kind = 'unclean election' AS unclean,
           CAST(e.before AS INT) AS old_leader, CAST(e.after AS INT) AS new_leader
    FROM events e
    WHERE e.kind IN ('leader elected', 'unclean election')
)
SELECT elected.offset AS offset, elected.time, elected.topic_id, began.topic, elected.partition_id,
       old_leader, new_leader, began.leader_epoch,
       CASE WHEN unclean THEN 'unclean'
            WHEN NOT array_contains(ended.isr, new_leader) AND array_contains(ended.elr, new_leader) THEN 'elr'
            ELSE 'clean' END AS kind,
       CASE WHEN old_leader = -1 THEN 'leaderless'
            WHEN NOT array_contains(began.replicas, old_leader) THEN 'reassigned'
            WHEN NOT array_contains(began.isr, old_leader) THEN 'failover'
            WHEN began.replicas[0] = new_leader THEN 'preferred'
            ELSE 'moved' END AS cause
FROM elected
-- The record of an election ends one version, and begins one: its offset is enough, in half the time.
JOIN partitions began ON began.valid_from_offset = elected.offset
JOIN partitions ended ON ended.valid_to_offset = elected.offset
