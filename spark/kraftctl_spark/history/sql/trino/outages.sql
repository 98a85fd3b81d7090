-- From when to when a partition was leaderless, or under-replicated as Kafka's tools count it.
-- Each kind of outage of each partition has a number: engines sort by it in half the time that ids take.
WITH names AS (
    SELECT topic_id, topic, row_number() OVER (ORDER BY topic_id) AS topic_number
    FROM (SELECT topic_id, max(topic) AS topic FROM topics GROUP BY topic_id) AS all_topics
),
states AS (
    SELECT (topic_number * 4294967296 + partition_id) * 2 AS number, topic_number, partition_id,
           leader = -1 AS no_leader,
           CASE WHEN cardinality(isr) < cardinality(replicas)
                THEN CASE WHEN cardinality(adding_replicas) = 0 THEN true
                          ELSE cardinality(isr) < cardinality(array_except(replicas, adding_replicas)) END
           END AS lacks_replicas,
           valid_from_offset, valid_from_time, valid_to_offset, valid_to_time,
           CASE WHEN ended_by <> 'gap' THEN valid_to_offset END AS goes_on_at
    FROM partitions
    JOIN names ON names.topic_id = partitions.topic_id
    WHERE leader = -1 OR cardinality(isr) < cardinality(replicas)
),
outages AS (
    SELECT number + 1 AS number, true AS leaderless, topic_number, partition_id,
           valid_from_offset, valid_from_time, valid_to_offset, valid_to_time, goes_on_at
    FROM states WHERE no_leader
    UNION ALL
    SELECT number, false AS leaderless, topic_number, partition_id,
           valid_from_offset, valid_from_time, valid_to_offset, valid_to_time, goes_on_at
    FROM states WHERE lacks_replicas
),
-- An outage is a run of states without a break or a gap between them: its first and its last one are its edges.
edges AS (
    SELECT * FROM (
        SELECT *,
               coalesce(lag(goes_on_at) OVER in_order <> valid_from_offset, true) AS begins,
               coalesce(lead(valid_from_offset) OVER in_order <> goes_on_at, true) AS ends
        FROM outages
        WINDOW in_order AS (PARTITION BY number ORDER BY valid_from_offset)
    ) AS states
    WHERE begins OR ends
),
paired AS (
    SELECT leaderless, topic_number, partition_id, begins,
           valid_from_offset AS start_offset, valid_from_time AS start_time,
           CASE WHEN ends THEN valid_to_offset ELSE lead(valid_to_offset) OVER in_order END AS end_offset,
           CASE WHEN ends THEN valid_to_time ELSE lead(valid_to_time) OVER in_order END AS end_time
    FROM edges
    WINDOW in_order AS (PARTITION BY number ORDER BY valid_from_offset)
)
SELECT CASE WHEN leaderless THEN 'leaderless' ELSE 'under-replicated' END AS kind,
       names.topic_id, names.topic, partition_id, start_offset, start_time, end_offset,
       CASE WHEN end_offset IS NULL THEN (SELECT max_by(end_time, end_offset) FROM known_ranges)
            ELSE end_time END AS end_time
FROM paired
JOIN names ON names.topic_number = paired.topic_number
WHERE begins;
