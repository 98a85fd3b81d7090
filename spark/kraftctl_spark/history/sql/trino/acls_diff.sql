-- How acls as of one offset differ from those as of an earlier one.
WITH parameters AS (SELECT 4000 AS from_offset, 5000 AS to_offset)
SELECT coalesce(b.id, a.id) AS id,
       CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.resource_type AS resource_type_before, a.resource_type AS resource_type_after,
       b.resource_name AS resource_name_before, a.resource_name AS resource_name_after,
       b.pattern_type AS pattern_type_before, a.pattern_type AS pattern_type_after,
       b.principal AS principal_before, a.principal AS principal_after,
       b.host AS host_before, a.host AS host_after,
       b.operation AS operation_before, a.operation AS operation_after,
       b.permission AS permission_before, a.permission AS permission_after
FROM (SELECT * FROM acls
      WHERE valid_from_offset <= (SELECT from_offset FROM parameters)
        AND valid_to_offset > (SELECT from_offset FROM parameters) AND valid_to_offset <= (SELECT to_offset FROM parameters)) b
FULL OUTER JOIN (SELECT * FROM acls
      WHERE valid_from_offset > (SELECT from_offset FROM parameters) AND valid_from_offset <= (SELECT to_offset FROM parameters)
        AND (valid_to_offset IS NULL OR valid_to_offset > (SELECT to_offset FROM parameters))) a
ON a.id = b.id
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT from_offset FROM parameters) AND end_offset > (SELECT from_offset FROM parameters))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT to_offset FROM parameters) AND end_offset > (SELECT to_offset FROM parameters))
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.resource_type IS NOT DISTINCT FROM a.resource_type
           AND b.resource_name IS NOT DISTINCT FROM a.resource_name
           AND b.pattern_type IS NOT DISTINCT FROM a.pattern_type
           AND b.principal IS NOT DISTINCT FROM a.principal
           AND b.host IS NOT DISTINCT FROM a.host
           AND b.operation IS NOT DISTINCT FROM a.operation
           AND b.permission IS NOT DISTINCT FROM a.permission));
