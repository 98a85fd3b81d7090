-- How features as of one offset differ from those as of an earlier one.
-- DECLARE OR REPLACE VARIABLE from_offset BIGINT DEFAULT 4000;
-- DECLARE OR REPLACE VARIABLE to_offset BIGINT DEFAULT 5000;
SELECT coalesce(b.name, a.name) AS name,
       CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.level AS level_before, a.level AS level_after
FROM (SELECT * FROM features
      WHERE valid_from_offset <= session.from_offset
        AND valid_to_offset > session.from_offset AND valid_to_offset <= session.to_offset) b
FULL OUTER JOIN (SELECT * FROM features
      WHERE valid_from_offset > session.from_offset AND valid_from_offset <= session.to_offset
        AND (valid_to_offset IS NULL OR valid_to_offset > session.to_offset)) a
ON a.name = b.name
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.from_offset AND end_offset > session.from_offset)
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.to_offset AND end_offset > session.to_offset)
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.level IS NOT DISTINCT FROM a.level));
