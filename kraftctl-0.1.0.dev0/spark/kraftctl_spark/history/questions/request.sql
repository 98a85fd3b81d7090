-- What one request, or one decision of the controller, changed: the events of a batch.
-- Files of older releases do not say in which batch a record came: none is found in them.
SELECT e.offset AS offset, e.time, e.kind, e.subject, e.before, e.after
FROM events e
WHERE e.batch_offset = :batch_offset
ORDER BY e.offset
