-- What happened in a window of time, without the changes of ISRs and ELRs of single partitions.
-- SET VARIABLE from_time = TIMESTAMPTZ '2026-11-21 12:00:00+00:00';
-- SET VARIABLE until_time = TIMESTAMPTZ '2026-11-21 13:00:00+00:00';
SELECT e.offset AS offset, e.time, e.kind, e.subject, e.before, e.after
FROM events e
WHERE e.time >= getvariable('from_time') AND e.time < getvariable('until_time')
  AND e.kind NOT IN ('ISR shrank', 'ISR grew', 'ISR shrank and grew', 'ISR reordered', 'ELR changed',
                     'last known ELR changed', 'producer ids changed')
ORDER BY e.offset;
