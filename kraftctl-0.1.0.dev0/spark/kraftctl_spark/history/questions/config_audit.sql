-- Every configuration that was set, changed or removed, with both values.
-- A redacted one has a row each time that it was set: whether that is another value, only a digest says. What changed
-- in a gap has a row at the end of the snapshot that shows it, and is not exact.
WITH versions AS (
    SELECT *, CASE WHEN lag(valid_to_offset) OVER of_config = valid_from_offset
                    AND lag(ended_by) OVER of_config = 'changed'
                   THEN lag(value) OVER of_config END AS old_value
    FROM configs
    WINDOW of_config AS (PARTITION BY resource_type, resource_name, name ORDER BY valid_from_offset)
),
removals AS (
    SELECT e.offset AS offset, min(e.batch_offset) AS batch_offset
    FROM events e
    WHERE e.history_table = 'configs' AND e.after IS NULL
    GROUP BY e.offset
),
-- A range without offsets is a snapshot that was not understood, and shows nothing.
gaps AS (
    SELECT end_offset AS gap_offset, lead(start_offset) OVER (ORDER BY start_offset) AS snapshot_offset,
           lead(start_time) OVER (ORDER BY start_offset) AS snapshot_time
    FROM known_tables
    WHERE history_table = 'configs' AND end_offset > start_offset
),
in_gaps AS (
    SELECT snapshot_offset, snapshot_time, resource_type, resource_name, topic_id, name,
           value AS old_value, NULL AS new_value
    FROM configs
    JOIN gaps ON ended_by = 'gap' AND valid_to_offset = gap_offset
    WHERE snapshot_offset IS NOT NULL
    UNION ALL
    SELECT snapshot_offset, snapshot_time, resource_type, resource_name, topic_id, name, NULL, value
    FROM configs
    JOIN gaps ON from_snapshot AND valid_from_offset = snapshot_offset
)
SELECT valid_from_offset AS offset, valid_from_time AS time, batch_offset, true AS exact,
       resource_type, resource_name, topic_id, name, old_value, value AS new_value, 'set' AS cause
FROM versions
WHERE NOT from_snapshot
UNION ALL
SELECT versions.valid_to_offset, versions.valid_to_time, removals.batch_offset, true,
       resource_type, resource_name, versions.topic_id, name, value, NULL,
       CASE WHEN topics.topic_id IS NULL THEN 'removed' ELSE 'topic deleted' END
FROM versions
LEFT JOIN removals ON removals.offset = versions.valid_to_offset
LEFT JOIN topics ON topics.topic_id = versions.topic_id
     AND topics.valid_to_offset = versions.valid_to_offset AND topics.ended_by = 'removed'
WHERE versions.ended_by = 'removed'
UNION ALL
SELECT snapshot_offset, min(snapshot_time), NULL, false,
       resource_type, resource_name, topic_id, name, max(old_value), max(new_value), 'gap'
FROM in_gaps
GROUP BY snapshot_offset, resource_type, resource_name, topic_id, name
HAVING max(old_value) IS DISTINCT FROM max(new_value)
ORDER BY offset, resource_type, resource_name, name
