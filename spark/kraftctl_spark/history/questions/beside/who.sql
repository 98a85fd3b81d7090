-- Every event with the request that it came from, as the audit logs have it.
-- Null: the controller decided it by itself, or the audit log that has it is missing.
WITH asked AS (
    SELECT principal, address, client_id, api, first_offset, last_offset
    FROM audit_log
    WHERE outcome IN ('committed', 'appended') AND first_offset IS NOT NULL
),
changed AS (
    SELECT DISTINCT e.offset AS at_offset FROM events e
),
found AS (
    SELECT at_offset, asked.*,
           row_number() OVER (PARTITION BY at_offset ORDER BY last_offset - first_offset, first_offset) AS place
    FROM changed
    JOIN asked ON at_offset >= first_offset AND at_offset <= last_offset
)
SELECT e.offset AS offset, e.time, e.kind, e.subject, e.before, e.after, principal, address, client_id, api,
       e.topic_id, e.partition_id, e.broker_id
FROM events e
LEFT JOIN found ON found.at_offset = e.offset AND place = 1
