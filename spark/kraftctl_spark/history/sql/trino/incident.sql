-- What happened in a window of time, without the changes of ISRs and ELRs of single partitions.
WITH parameters AS (SELECT TIMESTAMP '2026-11-21 12:00:00' AS from_time, TIMESTAMP '2026-11-21 13:00:00' AS until_time)
SELECT e.offset AS offset, e.time, e.kind, e.subject, e.before, e.after
FROM events e
WHERE e.time >= (SELECT from_time FROM parameters) AND e.time < (SELECT until_time FROM parameters)
  AND e.kind NOT IN ('ISR shrank', 'ISR grew', 'ISR shrank and grew', 'ISR reordered', 'ELR changed',
                     'last known ELR changed', 'producer ids changed')
ORDER BY e.offset;
