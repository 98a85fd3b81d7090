-- How features as of one offset differ from those as of an earlier one.
WITH parameters AS (SELECT 4000 AS from_offset, 5000 AS to_offset)
SELECT coalesce(b.name, a.name) AS name,
       CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.level AS level_before, a.level AS level_after
FROM (SELECT * FROM features
      WHERE valid_from_offset <= (SELECT from_offset FROM parameters)
        AND valid_to_offset > (SELECT from_offset FROM parameters) AND valid_to_offset <= (SELECT to_offset FROM parameters)) b
FULL OUTER JOIN (SELECT * FROM features
      WHERE valid_from_offset > (SELECT from_offset FROM parameters) AND valid_from_offset <= (SELECT to_offset FROM parameters)
        AND (valid_to_offset IS NULL OR valid_to_offset > (SELECT to_offset FROM parameters))) a
ON a.name = b.name
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT from_offset FROM parameters) AND end_offset > (SELECT from_offset FROM parameters))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT to_offset FROM parameters) AND end_offset > (SELECT to_offset FROM parameters))
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.level IS NOT DISTINCT FROM a.level));
