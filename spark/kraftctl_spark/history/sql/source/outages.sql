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
    WHERE size(isr) < size(replicas) AND size(isr) < size(array_except(replicas, adding_replicas))
),
marked AS (
    SELECT *, CASE WHEN lag(valid_to_offset) OVER (PARTITION BY kind, topic_id, partition_id
                                                   ORDER BY valid_from_offset) = valid_from_offset
                   THEN 0 ELSE 1 END AS begins
    FROM outages
),
numbered AS (
    SELECT *, sum(begins) OVER (PARTITION BY kind, topic_id, partition_id ORDER BY valid_from_offset) AS number
    FROM marked
)
SELECT kind, topic_id, partition_id, min(topic) AS topic,
       min(valid_from_offset) AS start_offset, min_by(valid_from_time, valid_from_offset) AS start_time,
       CASE WHEN count(*) = count(valid_to_offset) THEN max(valid_to_offset) END AS end_offset,
       CASE WHEN count(*) = count(valid_to_offset) THEN max_by(valid_to_time, valid_to_offset)
            ELSE (SELECT max_by(end_time, end_offset) FROM known_ranges) END AS end_time
FROM numbered
GROUP BY kind, topic_id, partition_id, number
