-- How often each broker was elected, how, and how often it lost its leadership.
SELECT broker_id, count(won) AS elected, count(CASE WHEN kind = 'clean' THEN 1 END) AS clean,
       count(CASE WHEN kind = 'unclean' THEN 1 END) AS unclean, count(CASE WHEN kind = 'elr' THEN 1 END) AS from_elr,
       count(CASE WHEN cause = 'preferred' THEN 1 END) AS preferred, count(*) - count(won) AS lost
FROM (
    SELECT new_leader AS broker_id, 1 AS won, kind, cause FROM elections
    UNION ALL
    SELECT CAST(e.before AS INT) AS broker_id, NULL AS won, NULL AS kind, NULL AS cause
    FROM events e
    WHERE e.kind IN ('leader elected', 'unclean election', 'leader lost') AND e.before <> '-1'
) AS votes
GROUP BY broker_id
ORDER BY broker_id
