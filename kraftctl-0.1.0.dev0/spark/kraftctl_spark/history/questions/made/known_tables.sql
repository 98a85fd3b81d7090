-- From when to when each table of versions is known: the known ranges, up to a record that was not understood and may
-- have changed the table.
WITH named AS (
    SELECT 'topics' AS history_table
),
not_understood AS (
    SELECT history_table, start_offset, start_time
    FROM not_known
    WHERE reason IN ('unknown type', 'unknown version', 'undecodable')
),
lost AS (
    SELECT n.history_table AS history_table, r.start_offset AS range_start,
           min(n.start_offset) AS lost_offset, min_by(n.start_time, n.start_offset) AS lost_time
    FROM not_understood n
    JOIN known_ranges r ON n.start_offset >= r.start_offset AND n.start_offset < r.end_offset
    GROUP BY n.history_table, r.start_offset
),
ends AS (
    SELECT start_offset AS end_of_all FROM not_understood WHERE history_table IS NULL GROUP BY start_offset
)
SELECT named.history_table AS history_table, known.start_offset AS start_offset, known.start_time AS start_time,
       known.from_snapshot AS from_snapshot, coalesce(lost.lost_offset, known.end_offset) AS end_offset,
       CASE WHEN lost.lost_offset IS NULL THEN known.end_time ELSE lost.lost_time END AS end_time,
       coalesce(lost.lost_offset, ends.end_of_all) IS NOT NULL AS is_lost
FROM known_ranges known
CROSS JOIN named
LEFT JOIN lost ON lost.history_table = named.history_table AND lost.range_start = known.start_offset
LEFT JOIN ends ON ends.end_of_all = known.end_offset
ORDER BY start_offset, history_table
