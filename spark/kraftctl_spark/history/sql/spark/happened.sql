-- What happened after one offset and up to another, in order.
-- DECLARE OR REPLACE VARIABLE from_offset BIGINT DEFAULT 4000;
-- DECLARE OR REPLACE VARIABLE to_offset BIGINT DEFAULT 5000;
SELECT e.offset AS offset, e.time, e.batch_offset, e.kind, e.subject, e.before, e.after
FROM events e
WHERE e.offset > session.from_offset AND e.offset <= session.to_offset
ORDER BY e.offset;
