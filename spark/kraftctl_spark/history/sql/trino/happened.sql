-- What happened after one offset and up to another, in order.
WITH parameters AS (SELECT 4000 AS from_offset, 5000 AS to_offset)
SELECT e.offset AS offset, e.time, e.batch_offset, e.kind, e.subject, e.before, e.after
FROM events e
WHERE e.offset > (SELECT from_offset FROM parameters) AND e.offset <= (SELECT to_offset FROM parameters)
ORDER BY e.offset;
