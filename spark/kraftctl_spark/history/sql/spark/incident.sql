-- What happened in a window of time, without the changes of ISRs and ELRs of single partitions.
-- DECLARE OR REPLACE VARIABLE from_time TIMESTAMP DEFAULT TIMESTAMP '2026-11-21 12:00:00+00:00';
-- DECLARE OR REPLACE VARIABLE until_time TIMESTAMP DEFAULT TIMESTAMP '2026-11-21 13:00:00+00:00';
SELECT e.offset AS offset, e.time, e.kind, e.subject, e.before, e.after
FROM events e
WHERE e.time >= session.from_time AND e.time < session.until_time
  AND e.kind NOT IN ('ISR shrank', 'ISR grew', 'ISR shrank and grew', 'ISR reordered', 'ELR changed',
                     'last known ELR changed', 'producer ids changed')
ORDER BY e.offset;
