-- From when to when a partition was leaderless, or under-replicated as Kafka's tools count it.
-- Each kind of outage of each partition has a number: engines sort by it in half the time that ids take. So do
-- rows without texts: how a state ended is a number, too.
WITH names AS (
    SELECT topic_id, topic, row_number() OVER (ORDER BY topic_id) AS topic_number
    FROM (SELECT topic_id, max(topic) AS topic FROM topics GROUP BY topic_id) AS all_topics
),
states AS (
    SELECT (topic_number * 4294967296 + partition_id) * 2 AS number, topic_number, partition_id,
           leaderless, under_replicated, start_offset, start_time, end_offset, end_time,
           CASE ended_by WHEN 'changed' THEN 1 WHEN 'removed' THEN 2 WHEN 'gap' THEN 3 END AS ending
    FROM partition_history
    JOIN names ON names.topic_id = partition_history.topic_id
    WHERE leaderless OR under_replicated
),
impaired AS (
    SELECT number + CASE WHEN no_leader THEN 1 ELSE 0 END AS number, no_leader AS leaderless, topic_number,
           partition_id, start_offset, start_time, end_offset, end_time, ending,
           CASE WHEN ending <> 3 THEN end_offset END AS continued_at
    FROM states
    LATERAL VIEW explode(CASE WHEN NOT under_replicated THEN array(true) WHEN leaderless THEN array(true, false)
                              ELSE array(false) END) AS no_leader
),
-- An outage is a run of states without a break or a gap between them: its first and its last one are its edges.
edges AS (
    SELECT * FROM (
        SELECT *,
               coalesce(lag(continued_at) OVER in_order <> start_offset, true) AS begins,
               coalesce(lead(start_offset) OVER in_order <> continued_at, true) AS ends
        FROM impaired
        WINDOW in_order AS (PARTITION BY number ORDER BY start_offset)
    ) AS marked
    WHERE begins OR ends
),
paired AS (
    SELECT leaderless, topic_number, partition_id, begins, start_offset, start_time,
           CASE WHEN ends THEN end_offset ELSE lead(end_offset) OVER in_order END AS end_offset,
           CASE WHEN ends THEN end_time ELSE lead(end_time) OVER in_order END AS end_time,
           CASE WHEN ends THEN ending ELSE lead(ending) OVER in_order END AS ending
    FROM edges
    WINDOW in_order AS (PARTITION BY number ORDER BY start_offset)
)
SELECT CASE WHEN leaderless THEN 'leaderless' ELSE 'under-replicated' END AS kind,
       names.topic_id, names.topic, partition_id, start_offset, start_time, end_offset, end_time,
       CASE WHEN end_time < start_time THEN 0 ELSE unix_millis(end_time) - unix_millis(start_time) END AS duration_ms,
       CASE ending WHEN 1 THEN 'changed' WHEN 2 THEN 'removed' WHEN 3 THEN 'gap' END AS ended_by
FROM paired
JOIN names ON names.topic_number = paired.topic_number
WHERE begins
