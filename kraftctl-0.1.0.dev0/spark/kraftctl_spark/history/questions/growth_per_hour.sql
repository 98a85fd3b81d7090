-- Topics, partitions and brokers that came and left in each UTC hour, and how many there were at its end.
-- What is in a snapshot existed before; what changed in a gap is only in the totals, which are null where it begins.
WITH gaps AS (
    SELECT history_table, timestamp_seconds(unix_seconds(end_time) - unix_seconds(end_time) % 3600) AS first_hour,
           timestamp_seconds(unix_seconds(next_time) - unix_seconds(next_time) % 3600) AS next_hour
    FROM (SELECT history_table, coalesce(end_time, start_time) AS end_time,
                 lead(start_time) OVER (PARTITION BY history_table ORDER BY start_offset) AS next_time, is_lost
          FROM known_tables
          WHERE history_table IN ('topics', 'partitions', 'brokers')) AS ended
    WHERE next_time IS NOT NULL OR is_lost
),
steps AS (
    SELECT known_ranges.start_offset AS range_start, e.time, e.kind,
           CASE WHEN e.kind IN ('topic created', 'partition created', 'broker registered') THEN 1 ELSE -1 END AS step
    FROM events e
    JOIN known_ranges ON e.offset >= known_ranges.start_offset AND e.offset < known_ranges.end_offset
    WHERE e.kind IN ('topic created', 'topic deleted', 'partition created', 'partition deleted',
                     'broker registered', 'broker unregistered')
    UNION ALL
    SELECT valid_from_offset, valid_from_time, 'topic', 1 FROM topics WHERE from_snapshot
    UNION ALL
    SELECT valid_from_offset, valid_from_time, 'partition', 1 FROM partitions WHERE from_snapshot
    UNION ALL
    SELECT valid_from_offset, valid_from_time, 'broker', 1 FROM brokers WHERE from_snapshot
),
hours AS (
    SELECT range_start, timestamp_seconds(unix_seconds(time) - unix_seconds(time) % 3600) AS hour,
           count(CASE WHEN kind = 'topic created' THEN 1 END) AS topics_created,
           count(CASE WHEN kind = 'topic deleted' THEN 1 END) AS topics_deleted,
           count(CASE WHEN kind = 'partition created' THEN 1 END) AS partitions_created,
           count(CASE WHEN kind = 'partition deleted' THEN 1 END) AS partitions_deleted,
           count(CASE WHEN kind = 'broker registered' THEN 1 END) AS brokers_registered,
           count(CASE WHEN kind = 'broker unregistered' THEN 1 END) AS brokers_unregistered,
           sum(CASE WHEN kind LIKE 'topic%' THEN step ELSE 0 END) AS topic_steps,
           sum(CASE WHEN kind LIKE 'partition%' THEN step ELSE 0 END) AS partition_steps,
           sum(CASE WHEN kind LIKE 'broker%' THEN step ELSE 0 END) AS broker_steps
    FROM steps
    GROUP BY range_start, 2
),
totals AS (
    SELECT *, sum(topic_steps) OVER in_order AS topics, sum(partition_steps) OVER in_order AS partitions,
           sum(broker_steps) OVER in_order AS brokers
    FROM hours
    WINDOW in_order AS (PARTITION BY range_start ORDER BY hour)
),
unknown_hours AS (
    SELECT hours.hour AS unknown_hour, max(CASE WHEN history_table = 'topics' THEN 1 END) AS no_topics,
           max(CASE WHEN history_table = 'partitions' THEN 1 END) AS no_partitions,
           max(CASE WHEN history_table = 'brokers' THEN 1 END) AS no_brokers
    FROM hours
    JOIN gaps ON gaps.first_hour <= hours.hour AND (gaps.next_hour IS NULL OR gaps.next_hour > hours.hour)
    GROUP BY hours.hour
)
SELECT hour, CAST(sum(topics_created) AS BIGINT) AS topics_created,
       CAST(sum(topics_deleted) AS BIGINT) AS topics_deleted,
       CAST(sum(partitions_created) AS BIGINT) AS partitions_created,
       CAST(sum(partitions_deleted) AS BIGINT) AS partitions_deleted,
       CAST(sum(brokers_registered) AS BIGINT) AS brokers_registered,
       CAST(sum(brokers_unregistered) AS BIGINT) AS brokers_unregistered,
       CASE WHEN max(no_topics) IS NULL THEN CAST(max_by(topics, range_start) AS BIGINT) END AS topics,
       CASE WHEN max(no_partitions) IS NULL THEN CAST(max_by(partitions, range_start) AS BIGINT) END AS partitions,
       CASE WHEN max(no_brokers) IS NULL THEN CAST(max_by(brokers, range_start) AS BIGINT) END AS brokers
FROM totals
LEFT JOIN unknown_hours ON unknown_hours.unknown_hour = totals.hour
GROUP BY hour
ORDER BY hour
