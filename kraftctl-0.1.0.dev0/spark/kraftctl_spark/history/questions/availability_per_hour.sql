-- How long each partition was leaderless and under-replicated in each UTC hour in which it was.
-- Only the first 100,000 hours of a state count: a record with a time far in the future makes no row for each hour.
WITH hours AS (
    SELECT topic_id, topic, partition_id, leaderless, under_replicated,
           unix_millis(start_time) AS start_ms, unix_millis(end_time) AS end_ms,
           floor(unix_seconds(start_time) / 3600) AS first_hour,
           least(floor(unix_seconds(end_time) / 3600), floor(unix_seconds(start_time) / 3600) + 100000) AS last_hour
    FROM partition_history
    WHERE start_time < end_time AND (leaderless OR under_replicated)
)
SELECT timestamp_seconds(hour * 3600) AS hour, topic_id, topic, partition_id,
       CAST(sum(CASE WHEN leaderless THEN ms ELSE 0 END) AS BIGINT) AS leaderless_ms,
       CAST(sum(CASE WHEN under_replicated THEN ms ELSE 0 END) AS BIGINT) AS under_replicated_ms
FROM (
    SELECT *, least(end_ms, (hour + 1) * 3600000) - greatest(start_ms, hour * 3600000) AS ms
    FROM hours LATERAL VIEW explode(sequence(CAST(first_hour AS BIGINT), CAST(last_hour AS BIGINT))) AS hour
) AS parts
WHERE ms > 0
GROUP BY hour, topic_id, topic, partition_id
