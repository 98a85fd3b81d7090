-- How long each partition of a topic, or of all for a null one, was leaderless and under-replicated in a window.
-- What is not known counts for nothing: it is the time of the window in which nothing was known, of any partition.
-- Known ranges overlap where a clock went backwards: no time counts twice. A window that ends before it begins is none.
WITH states AS (
    SELECT topic_id, topic, partition_id, leaderless, under_replicated,
           greatest(unix_millis(least(end_time, :until_time)) - unix_millis(greatest(start_time, :from_time)), 0) AS ms
    FROM partition_history
    WHERE (:of_topic IS NULL OR topic = :of_topic) AND start_time < :until_time AND end_time > :from_time
      AND :from_time <= :until_time
),
in_window AS (
    SELECT unix_millis(greatest(start_time, :from_time)) AS start_ms,
           unix_millis(least(end_time, :until_time)) AS end_ms
    FROM known_tables
    WHERE history_table = 'partitions' AND start_time < :until_time AND end_time > :from_time
),
known AS (
    SELECT greatest(end_ms - greatest(start_ms, coalesce(before_ms, start_ms)), 0) AS ms
    FROM (SELECT *, max(end_ms) OVER (ORDER BY start_ms, end_ms
                                      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ms
          FROM in_window) AS in_order
),
in_all AS (
    SELECT CAST(coalesce(sum(ms), 0) AS BIGINT) AS known_ms FROM known
)
SELECT topic_id, max(topic) AS topic, partition_id, CAST(sum(ms) AS BIGINT) AS observed_ms,
       CAST(sum(CASE WHEN leaderless THEN ms ELSE 0 END) AS BIGINT) AS leaderless_ms,
       CAST(sum(CASE WHEN under_replicated THEN ms ELSE 0 END) AS BIGINT) AS under_replicated_ms,
       CASE WHEN sum(ms) > 0 THEN CAST(sum(CASE WHEN leaderless THEN 0 ELSE ms END) AS DOUBLE)
                                  / CAST(sum(ms) AS DOUBLE) END AS available,
       unix_millis(:until_time) - unix_millis(:from_time) - max(known_ms) AS not_known_ms
FROM states
CROSS JOIN in_all
GROUP BY topic_id, partition_id
