-- Leaders of the quorum, from when to when, and changes of its voters and of kraft.version.
-- What a snapshot repeats is no change, and a snapshot does not say who leads.
WITH leaders AS (
    SELECT leader_id, leader_epoch, min(valid_from_offset) AS start_offset,
           min_by(valid_from_time, valid_from_offset) AS start_time, min_by(voters, valid_from_offset) AS voters,
           max_by(valid_to_offset, valid_from_offset) AS end_offset,
           max_by(CASE WHEN valid_to_offset IS NULL THEN (SELECT max_by(end_time, end_offset) FROM known_ranges)
                       ELSE valid_to_time END, valid_from_offset) AS end_time
    FROM quorum
    WHERE leader_id IS NOT NULL
    GROUP BY leader_id, leader_epoch
)
SELECT start_offset AS offset, start_time AS time, 'leader' AS change, leader_id, leader_epoch, voters,
       CAST(NULL AS INT) AS kraft_version, end_offset, end_time,
       CASE WHEN end_time < start_time THEN 0 ELSE unix_millis(end_time) - unix_millis(start_time) END AS duration_ms
FROM leaders
UNION ALL
SELECT valid_from_offset, valid_from_time, 'voters', CAST(NULL AS INT), CAST(NULL AS INT), voters,
       CAST(NULL AS INT), CAST(NULL AS BIGINT), CAST(NULL AS TIMESTAMP), CAST(NULL AS BIGINT)
FROM (SELECT *, lag(voters) OVER (ORDER BY valid_from_offset) AS previous
      FROM quorum WHERE size(voters) > 0) AS of_voters
WHERE voters IS DISTINCT FROM previous
UNION ALL
SELECT valid_from_offset, valid_from_time, 'kraft.version', CAST(NULL AS INT), CAST(NULL AS INT),
       CAST(NULL AS ARRAY<INT>), kraft_version, CAST(NULL AS BIGINT), CAST(NULL AS TIMESTAMP),
       CAST(NULL AS BIGINT)
FROM (SELECT *, lag(kraft_version) OVER (ORDER BY valid_from_offset) AS previous
      FROM quorum WHERE kraft_version IS NOT NULL) AS of_version
WHERE kraft_version IS DISTINCT FROM previous
