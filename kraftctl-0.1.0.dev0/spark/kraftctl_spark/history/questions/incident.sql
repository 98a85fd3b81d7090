-- What happened in a window of time, without the changes of ISRs and ELRs of single partitions.
SELECT e.offset AS offset, e.time, e.kind, e.subject, e.before, e.after
FROM events e
WHERE e.time >= :from_time AND e.time < :until_time
  AND e.kind NOT IN ('ISR shrank', 'ISR grew', 'ISR shrank and grew', 'ISR reordered', 'ELR changed',
                     'last known ELR changed', 'producer ids changed')
ORDER BY e.offset
