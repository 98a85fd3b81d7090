-- Every configuration that was set, changed or removed, with both values.
-- Of a redacted one, a new value is not seen: it is redacted before and after.
SELECT e.offset AS offset, e.time, e.batch_offset, e.topic_id, e.subject AS config,
       e.before AS old_value, e.after AS new_value
FROM events e
WHERE e.history_table = 'configs'
ORDER BY e.offset;
