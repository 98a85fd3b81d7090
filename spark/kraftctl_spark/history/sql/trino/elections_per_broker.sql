-- How often each broker was elected, and lost its leadership.
SELECT broker_id, CAST(sum(elected) AS BIGINT) AS elected, CAST(sum(unclean) AS BIGINT) AS unclean, CAST(sum(lost) AS BIGINT) AS lost
FROM (
    SELECT CAST(e.after AS INT) AS broker_id, 1 AS elected,
           CASE WHEN e.kind = 'unclean election' THEN 1 ELSE 0 END AS unclean, 0 AS lost
    FROM events e
    WHERE e.kind IN ('leader elected', 'unclean election')
    UNION ALL
    SELECT CAST(e.before AS INT) AS broker_id, 0 AS elected, 0 AS unclean, 1 AS lost
    FROM events e
    WHERE e.kind IN ('leader elected', 'unclean election', 'leader lost') AND e.before <> '-1'
) AS votes
GROUP BY broker_id
ORDER BY broker_id;
