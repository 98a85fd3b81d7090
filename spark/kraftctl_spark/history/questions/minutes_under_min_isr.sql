-- From when to when a partition had fewer replicas in sync than min.insync.replicas, as it was then.
-- The minimum is that of the topic or of the cluster's default, otherwise, or where that is no number, 1: the files of
-- brokers are not in the log. A state that a change of the minimum divides has a row for each part; it ends where the
-- configurations are not known any more.
WITH minimum AS (
    SELECT topic_id, valid_from_offset, valid_from_time, valid_to_offset, valid_to_time,
           TRY_CAST(value AS INT) AS replicas
    FROM configs
    WHERE name = 'min.insync.replicas'
      AND (topic_id IS NOT NULL OR resource_type = 'BROKER' AND resource_name = '')
),
steps AS (
    SELECT topic_id, valid_from_offset AS step_offset, valid_from_time AS step_time FROM minimum
    UNION
    SELECT topic_id, valid_to_offset, valid_to_time FROM minimum WHERE valid_to_offset IS NOT NULL
    UNION
    SELECT CAST(NULL AS STRING), end_offset, end_time FROM known_tables WHERE history_table = 'configs' AND is_lost
),
highest AS (
    SELECT topic_id, max(replicas) AS replicas FROM minimum GROUP BY topic_id
),
low AS (
    SELECT p.topic_id, topic, partition_id, CAST(size(isr) AS INT) AS in_sync,
           start_offset, start_time, end_offset, end_time, ended_by
    FROM partition_history p
    LEFT JOIN highest ON highest.topic_id = p.topic_id
    CROSS JOIN (SELECT coalesce(max(replicas), 1) AS of_cluster FROM highest WHERE topic_id IS NULL) AS defaults
    WHERE size(isr) < greatest(coalesce(highest.replicas, 1), of_cluster, 1)
),
marks AS (
    SELECT *, start_offset AS at_offset, start_time AS at_time FROM low
    UNION
    SELECT low.*, step_offset, step_time
    FROM low
    JOIN steps ON steps.topic_id = low.topic_id
         AND step_offset > start_offset AND (end_offset IS NULL OR step_offset < end_offset)
    UNION
    SELECT low.*, step_offset, step_time
    FROM low
    JOIN steps ON steps.topic_id IS NULL
         AND step_offset > start_offset AND (end_offset IS NULL OR step_offset < end_offset)
),
parts AS (
    SELECT *, lead(at_offset) OVER of_state AS next_offset, lead(at_time) OVER of_state AS next_time
    FROM marks
    WINDOW of_state AS (PARTITION BY topic_id, partition_id, start_offset ORDER BY at_offset)
),
judged AS (
    SELECT parts.topic_id, parts.topic, partition_id, in_sync,
           coalesce(own.replicas, of_cluster.replicas, 1) AS min_insync_replicas, at_offset, at_time,
           coalesce(next_offset, end_offset) AS part_end_offset,
           CASE WHEN next_offset IS NULL THEN end_time ELSE next_time END AS part_end_time,
           CASE WHEN next_offset IS NULL THEN parts.ended_by WHEN next_offset = known_to THEN 'gap'
                ELSE 'changed' END AS ended_by
    FROM parts
    JOIN (SELECT start_offset AS known_from, end_offset AS known_to FROM known_tables
          WHERE history_table = 'configs') known
         ON known_from <= at_offset AND known_to > at_offset
    LEFT JOIN minimum own ON own.topic_id = parts.topic_id AND own.valid_from_offset <= at_offset
         AND (own.valid_to_offset IS NULL OR own.valid_to_offset > at_offset)
    LEFT JOIN minimum of_cluster ON of_cluster.topic_id IS NULL AND of_cluster.valid_from_offset <= at_offset
         AND (of_cluster.valid_to_offset IS NULL OR of_cluster.valid_to_offset > at_offset)
)
SELECT topic_id, topic, partition_id, in_sync, min_insync_replicas, at_offset AS start_offset, at_time AS start_time,
       part_end_offset AS end_offset, part_end_time AS end_time,
       CASE WHEN part_end_time < at_time THEN CAST(0 AS DOUBLE)
            ELSE CAST(unix_millis(part_end_time) - unix_millis(at_time) AS DOUBLE) / CAST(60000 AS DOUBLE) END AS minutes,
       ended_by
FROM judged
WHERE in_sync < min_insync_replicas
