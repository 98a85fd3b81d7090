-- How controllers as of one offset differ from those as of an earlier one.
WITH parameters AS (SELECT 4000 AS from_offset, 5000 AS to_offset)
SELECT coalesce(b.controller_id, a.controller_id) AS controller_id,
       CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.incarnation_id AS incarnation_id_before, a.incarnation_id AS incarnation_id_after,
       b.zk_migration_ready AS zk_migration_ready_before, a.zk_migration_ready AS zk_migration_ready_after,
       b.end_points AS end_points_before, a.end_points AS end_points_after,
       b.features AS features_before, a.features AS features_after
FROM (SELECT * FROM controllers
      WHERE valid_from_offset <= (SELECT from_offset FROM parameters)
        AND valid_to_offset > (SELECT from_offset FROM parameters) AND valid_to_offset <= (SELECT to_offset FROM parameters)) b
FULL OUTER JOIN (SELECT * FROM controllers
      WHERE valid_from_offset > (SELECT from_offset FROM parameters) AND valid_from_offset <= (SELECT to_offset FROM parameters)
        AND (valid_to_offset IS NULL OR valid_to_offset > (SELECT to_offset FROM parameters))) a
ON a.controller_id = b.controller_id
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT from_offset FROM parameters) AND end_offset > (SELECT from_offset FROM parameters))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT to_offset FROM parameters) AND end_offset > (SELECT to_offset FROM parameters))
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.incarnation_id IS NOT DISTINCT FROM a.incarnation_id
           AND b.zk_migration_ready IS NOT DISTINCT FROM a.zk_migration_ready
           AND b.end_points IS NOT DISTINCT FROM a.end_points
           AND b.features IS NOT DISTINCT FROM a.features));
