-- Every reassignment of replicas, from when to when; those that take one record begin and end with it.
WITH moved AS (
    SELECT topic_id, partition_id FROM events WHERE kind = 'replicas changed'
    UNION
    SELECT topic_id, partition_id FROM partitions WHERE size(adding_replicas) > 0 OR size(removing_replicas) > 0
),
states AS (
    SELECT *, lag(replicas) OVER of_partition AS replicas_before, lead(replicas) OVER of_partition AS next_replicas,
           coalesce(lag(moving) OVER of_partition, false) AS was_moving,
           coalesce(lag(valid_to_offset) OVER of_partition = valid_from_offset
                    AND lag(ended_by) OVER of_partition <> 'gap', false) AS follows
    FROM (SELECT *, size(adding_replicas) > 0 OR size(removing_replicas) > 0 AS moving
          FROM partitions
          WHERE (topic_id, partition_id) IN (SELECT topic_id, partition_id FROM moved)) AS of_moved
    WINDOW of_partition AS (PARTITION BY topic_id, partition_id ORDER BY valid_from_offset)
),
numbered AS (
    SELECT *, sum(CASE WHEN follows AND moving AND was_moving THEN 0 ELSE 1 END)
                  OVER (PARTITION BY topic_id, partition_id ORDER BY valid_from_offset) AS number
    FROM states
),
moves AS (
    SELECT topic_id, min(topic) AS topic, partition_id,
           CASE WHEN NOT min_by(from_snapshot, valid_from_offset) THEN min(valid_from_offset) END AS start_offset,
           CASE WHEN NOT min_by(from_snapshot, valid_from_offset)
                THEN min_by(valid_from_time, valid_from_offset) END AS start_time,
           max(valid_to_offset) AS end_offset, max_by(valid_to_time, valid_to_offset) AS end_time,
           max_by(coalesce(ended_by, 'end'), valid_from_offset) AS ended_by,
           min_by(CASE WHEN follows THEN replicas_before ELSE array_except(replicas, adding_replicas) END,
                  valid_from_offset) AS old_replicas,
           max_by(array_except(replicas, removing_replicas), valid_from_offset) AS new_replicas,
           max_by(coalesce(next_replicas, replicas), valid_from_offset) AS next_replicas
    FROM numbered
    WHERE moving
    GROUP BY topic_id, partition_id, number
)
SELECT topic_id, topic, partition_id, start_offset, start_time,
       CASE WHEN ended_by IN ('changed', 'removed') THEN end_offset END AS end_offset,
       CASE WHEN ended_by IN ('changed', 'removed') THEN end_time END AS end_time,
       CASE WHEN ended_by NOT IN ('changed', 'removed') THEN NULL WHEN end_time < start_time THEN 0
            ELSE unix_millis(end_time) - unix_millis(start_time) END AS duration_ms,
       CASE WHEN ended_by = 'end' THEN 'running' WHEN ended_by = 'gap' THEN 'unknown'
            WHEN ended_by = 'removed' THEN 'deleted'
            WHEN size(array_except(new_replicas, next_replicas)) = 0
                 AND size(array_except(next_replicas, new_replicas)) = 0 THEN 'completed'
            ELSE 'cancelled' END AS outcome,
       old_replicas, new_replicas
FROM moves
UNION ALL
SELECT topic_id, topic, partition_id, valid_from_offset, valid_from_time, valid_from_offset, valid_from_time, 0,
       'completed', replicas_before, replicas
FROM states
WHERE follows AND NOT moving AND NOT was_moving AND replicas_before <> replicas
