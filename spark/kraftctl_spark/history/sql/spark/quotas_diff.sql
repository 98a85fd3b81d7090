-- How quotas as of one offset differ from those as of an earlier one.
-- DECLARE OR REPLACE VARIABLE from_offset BIGINT DEFAULT 4000;
-- DECLARE OR REPLACE VARIABLE to_offset BIGINT DEFAULT 5000;
SELECT coalesce(b.entity, a.entity) AS entity,
       coalesce(b.key, a.key) AS key,
       CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.value AS value_before, a.value AS value_after
FROM (SELECT * FROM quotas
      WHERE valid_from_offset <= session.from_offset
        AND valid_to_offset > session.from_offset AND valid_to_offset <= session.to_offset) b
FULL OUTER JOIN (SELECT * FROM quotas
      WHERE valid_from_offset > session.from_offset AND valid_from_offset <= session.to_offset
        AND (valid_to_offset IS NULL OR valid_to_offset > session.to_offset)) a
ON a.entity = b.entity AND a.key = b.key
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.from_offset AND end_offset > session.from_offset)
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.to_offset AND end_offset > session.to_offset)
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.value IS NOT DISTINCT FROM a.value));
