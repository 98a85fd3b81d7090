-- What one request, or one decision of the controller, changed: the events of a batch.
-- Files of older releases do not say in which batch a record came: none is found in them.
WITH parameters AS (SELECT 4000 AS batch_offset)
SELECT e.offset AS offset, e.time, e.kind, e.subject, e.before, e.after
FROM events e
WHERE e.batch_offset = (SELECT batch_offset FROM parameters)
ORDER BY e.offset;
