-- The log in parts, from its first offset to its last: where the state is known, and where not, and why.
-- Where only some tables are not known, see known_tables. The state at the first offset of a known part after another one is that of a snapshot.
WITH known AS (
    SELECT *, lead(start_offset) OVER in_order AS next_offset, lead(start_time) OVER in_order AS next_time
    FROM known_ranges
    WINDOW in_order AS (ORDER BY start_offset)
),
ends AS (
    SELECT start_offset AS lost_offset, reason,
           row_number() OVER (PARTITION BY start_offset ORDER BY records DESC, reason) AS place
    FROM not_known
    WHERE history_table IS NULL AND reason IN ('unknown type', 'unknown version', 'undecodable')
)
SELECT start_offset, start_time, end_offset, end_time, true AS known, from_snapshot, CAST(NULL AS STRING) AS reason
FROM known
UNION ALL
SELECT end_offset, end_time, next_offset, next_time, false, false, coalesce(ends.reason, 'deleted before the export')
FROM known
LEFT JOIN ends ON ends.lost_offset = known.end_offset AND ends.place = 1
WHERE next_offset IS NOT NULL OR ends.reason IS NOT NULL
ORDER BY start_offset, known DESC
