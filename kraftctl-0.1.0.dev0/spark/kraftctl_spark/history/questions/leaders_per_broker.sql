-- How many partitions each broker leads at the end of each UTC hour in which that changes; null: it is not known.
WITH gaps AS (
    SELECT ended.end_offset AS gap_offset,
           timestamp_seconds(unix_seconds(end_time) - unix_seconds(end_time) % 3600) AS first_hour,
           timestamp_seconds(unix_seconds(next_time) - unix_seconds(next_time) % 3600) AS next_hour
    FROM (SELECT end_offset, coalesce(end_time, start_time) AS end_time,
                 lead(start_time) OVER (ORDER BY start_offset) AS next_time, is_lost
          FROM known_tables
          WHERE history_table = 'partitions') AS ended
    WHERE next_time IS NOT NULL OR is_lost
),
changes AS (
    SELECT timestamp_seconds(unix_seconds(valid_from_time) - unix_seconds(valid_from_time) % 3600) AS hour,
           leader AS broker_id, 1 AS change
    FROM partitions
    WHERE leader >= 0
    UNION ALL
    SELECT timestamp_seconds(unix_seconds(valid_to_time) - unix_seconds(valid_to_time) % 3600) AS hour,
           leader AS broker_id, -1 AS change
    FROM partitions
    WHERE leader >= 0 AND valid_to_offset IS NOT NULL
    UNION ALL
    SELECT gaps.next_hour AS hour, p.leader AS broker_id, 0 AS change
    FROM partitions p
    JOIN gaps ON p.valid_to_offset = gaps.gap_offset
    WHERE p.leader >= 0 AND p.ended_by = 'gap' AND gaps.next_hour IS NOT NULL
),
hours AS (
    SELECT hour, broker_id, sum(change) AS change
    FROM changes
    GROUP BY hour, broker_id
),
unknown_hours AS (
    SELECT DISTINCT hours.hour AS hour
    FROM hours
    JOIN gaps ON gaps.first_hour <= hours.hour AND (gaps.next_hour IS NULL OR gaps.next_hour > hours.hour)
)
SELECT hours.hour AS hour, hours.broker_id AS broker_id,
       CASE WHEN unknown_hours.hour IS NULL
            THEN CAST(sum(hours.change) OVER (PARTITION BY hours.broker_id ORDER BY hours.hour) AS BIGINT)
            END AS leaders
FROM hours
LEFT JOIN unknown_hours ON unknown_hours.hour = hours.hour
ORDER BY hours.hour, hours.broker_id
