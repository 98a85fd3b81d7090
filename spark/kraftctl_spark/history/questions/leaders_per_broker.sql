-- How many partitions each broker leads at the end of each UTC hour in which that changes.
SELECT hour, broker_id, CAST(sum(change) OVER (PARTITION BY broker_id ORDER BY hour) AS BIGINT) AS leaders
FROM (
    SELECT hour, broker_id, sum(change) AS change
    FROM (
        SELECT timestamp_seconds(unix_seconds(valid_from_time) - unix_seconds(valid_from_time) % 3600) AS hour,
               leader AS broker_id, 1 AS change
        FROM partitions
        WHERE leader >= 0
        UNION ALL
        SELECT timestamp_seconds(unix_seconds(valid_to_time) - unix_seconds(valid_to_time) % 3600) AS hour,
               leader AS broker_id, -1 AS change
        FROM partitions
        WHERE leader >= 0 AND valid_to_offset IS NOT NULL
    ) AS changes
    GROUP BY hour, broker_id
) AS hours
ORDER BY hour, broker_id
