-- The last offset whose record is not later than a time: null in a gap, before the first state and after the last one.
-- Where records have expired, that of the last event: the state is the same.
WITH point AS (
    SELECT max(found) AS at_offset
    FROM (SELECT r.offset AS found FROM records r WHERE r.timestamp <= :at_time
          UNION ALL SELECT start_offset FROM known_ranges WHERE start_time <= :at_time
          UNION ALL SELECT end_offset - 1 FROM known_ranges WHERE end_time <= :at_time
          UNION ALL SELECT e.offset FROM events e WHERE e.time <= :at_time AND e.kind <> 'gap begins') AS earlier
)
SELECT max(at_offset) AS offset
FROM point
JOIN known_ranges ON start_offset <= at_offset AND at_offset < end_offset
WHERE at_offset < end_offset - 1 OR end_time >= :at_time
