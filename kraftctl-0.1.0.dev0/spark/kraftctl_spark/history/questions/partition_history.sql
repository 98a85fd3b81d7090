-- All states of each partition, from when to when, and whether it was leaderless or under-replicated in them.
-- What has not ended extends to the last known time. Replicas that a reassignment is adding do not count as missing.
SELECT topic_id, topic, partition_id, start_offset, start_time, end_offset, end_time,
       CASE WHEN end_time < start_time THEN 0 ELSE unix_millis(end_time) - unix_millis(start_time) END AS duration_ms,
       from_snapshot, ended_by, leader, leader_epoch, partition_epoch, leader_recovery_state, replicas, isr,
       adding_replicas, removing_replicas, elr, last_known_elr, directories,
       leader = -1 AS leaderless,
       CASE WHEN size(isr) < size(replicas)
            THEN CASE WHEN size(adding_replicas) = 0 THEN true
                      ELSE size(isr) < size(array_except(replicas, adding_replicas)) END
            ELSE false END AS under_replicated
FROM (
    SELECT *, valid_from_offset AS start_offset, valid_from_time AS start_time, valid_to_offset AS end_offset,
           CASE WHEN valid_to_offset IS NULL THEN (SELECT max_by(end_time, end_offset) FROM known_ranges)
                ELSE valid_to_time END AS end_time
    FROM partitions
) AS states
