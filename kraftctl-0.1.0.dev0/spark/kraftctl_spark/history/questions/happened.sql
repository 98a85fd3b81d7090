-- What happened after one offset and up to another, in order.
SELECT e.offset AS offset, e.time, e.batch_offset, e.kind, e.subject, e.before, e.after
FROM events e
WHERE e.offset > :from_offset AND e.offset <= :to_offset
ORDER BY e.offset
