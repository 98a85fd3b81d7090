-- Every event with the request that it came from, as the audit logs have it.
-- Null: the controller decided it by itself, or the audit log that has it is missing.
-- The offsets of a request are in two parts of the log at most, which are as wide as the request or up to 16 times
-- wider: engines find the requests of an offset by the number of its part, and compare offsets with few of them.
WITH asked AS (
    SELECT principal, address, client_id, api, first_offset, last_offset, cluster_id AS asked_cluster,
           CASE WHEN last_offset - first_offset < 1 THEN CAST(1 AS BIGINT)
                WHEN last_offset - first_offset < 16 THEN CAST(16 AS BIGINT)
                WHEN last_offset - first_offset < 256 THEN CAST(256 AS BIGINT)
                WHEN last_offset - first_offset < 4096 THEN CAST(4096 AS BIGINT)
                WHEN last_offset - first_offset < 65536 THEN CAST(65536 AS BIGINT)
                ELSE 1000000000000000000 END AS width
    FROM audit_log
    WHERE outcome IN ('committed', 'appended') AND first_offset IS NOT NULL
),
placed AS (
    SELECT *, CAST(floor(first_offset / width) AS BIGINT) AS part FROM asked
    UNION
    SELECT *, CAST(floor(last_offset / width) AS BIGINT) AS part FROM asked
),
changed AS (
    SELECT DISTINCT e.offset AS at_offset, e.cluster_id AS changed_cluster FROM events e
),
located AS (
    SELECT at_offset, changed_cluster, of_width, CAST(floor(at_offset / of_width) AS BIGINT) AS of_part
    FROM changed
    CROSS JOIN (SELECT collect_set(width) AS widths FROM asked) AS all_widths
    LATERAL VIEW explode(widths) AS of_width
),
found AS (
    SELECT at_offset, placed.*,
           row_number() OVER (PARTITION BY at_offset ORDER BY last_offset - first_offset, first_offset) AS place
    FROM located
    JOIN placed ON width = of_width AND part = of_part AND at_offset >= first_offset AND at_offset <= last_offset
              AND coalesce(asked_cluster, changed_cluster) = changed_cluster
)
SELECT e.offset AS offset, e.time, e.kind, e.subject, e.before, e.after, principal, address, client_id, api,
       e.topic_id, e.partition_id, e.broker_id
FROM events e
LEFT JOIN found ON found.at_offset = e.offset AND place = 1
