-- What happened after one offset and up to another, in order.
-- SET VARIABLE from_offset = 4000;
-- SET VARIABLE to_offset = 5000;
SELECT e.offset AS offset, e.time, e.batch_offset, e.kind, e.subject, e.before, e.after
FROM events e
WHERE e.offset > getvariable('from_offset') AND e.offset <= getvariable('to_offset')
ORDER BY e.offset;
