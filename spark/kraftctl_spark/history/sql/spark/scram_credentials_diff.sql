-- How scram_credentials as of one offset differ from those as of an earlier one.
-- DECLARE OR REPLACE VARIABLE from_offset BIGINT DEFAULT 4000;
-- DECLARE OR REPLACE VARIABLE to_offset BIGINT DEFAULT 5000;
SELECT coalesce(b.user, a.user) AS user,
       coalesce(b.mechanism, a.mechanism) AS mechanism,
       CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.iterations AS iterations_before, a.iterations AS iterations_after
FROM (SELECT * FROM scram_credentials
      WHERE valid_from_offset <= session.from_offset
        AND valid_to_offset > session.from_offset AND valid_to_offset <= session.to_offset) b
FULL OUTER JOIN (SELECT * FROM scram_credentials
      WHERE valid_from_offset > session.from_offset AND valid_from_offset <= session.to_offset
        AND (valid_to_offset IS NULL OR valid_to_offset > session.to_offset)) a
ON a.user = b.user AND a.mechanism = b.mechanism
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.from_offset AND end_offset > session.from_offset)
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.to_offset AND end_offset > session.to_offset)
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.iterations IS NOT DISTINCT FROM a.iterations));
