-- From when to when a partition was leaderless, or under-replicated as Kafka's tools count it.
WITH outages AS (
    SELECT 'leaderless' AS kind, topic_id, topic, partition_id,
           valid_from_offset, valid_from_time, valid_to_offset, valid_to_time, ended_by
    FROM partitions
    WHERE leader = -1
    UNION ALL
    SELECT 'under-replicated' AS kind, topic_id, topic, partition_id,
           valid_from_offset, valid_from_time, valid_to_offset, valid_to_time, ended_by
    FROM partitions
    WHERE size(isr) < size(replicas)
      AND (size(adding_replicas) = 0 OR size(isr) < size(array_except(replicas, adding_replicas)))
),
-- An outage is a run of states without a break between them: its first and its last one are its edges.
edges AS (
    SELECT * FROM (
        SELECT *,
               coalesce(lag(valid_to_offset) OVER of_partition <> valid_from_offset, true) AS begins,
               coalesce(lead(valid_from_offset) OVER of_partition <> valid_to_offset, true) AS ends
        FROM outages
        WINDOW of_partition AS (PARTITION BY kind, topic_id, partition_id ORDER BY valid_from_offset)
    ) AS states
    WHERE begins OR ends
),
paired AS (
    SELECT kind, topic_id, topic, partition_id, begins,
           valid_from_offset AS start_offset, valid_from_time AS start_time,
           CASE WHEN ends THEN valid_to_offset ELSE lead(valid_to_offset) OVER of_partition END AS end_offset,
           CASE WHEN ends THEN valid_to_time ELSE lead(valid_to_time) OVER of_partition END AS end_time,
           CASE WHEN ends THEN ended_by ELSE lead(ended_by) OVER of_partition END AS ended_by
    FROM edges
    WINDOW of_partition AS (PARTITION BY kind, topic_id, partition_id ORDER BY valid_from_offset)
)
SELECT kind, topic_id, topic, partition_id, start_offset, start_time, end_offset,
       CASE WHEN end_offset IS NULL THEN (SELECT max_by(end_time, end_offset) FROM known_ranges)
            ELSE end_time END AS end_time,
       ended_by
FROM paired
WHERE begins;
