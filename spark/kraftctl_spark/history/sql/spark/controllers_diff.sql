-- How controllers as of one offset differ from those as of an earlier one.
-- DECLARE OR REPLACE VARIABLE from_offset BIGINT DEFAULT 4000;
-- DECLARE OR REPLACE VARIABLE to_offset BIGINT DEFAULT 5000;
SELECT coalesce(b.controller_id, a.controller_id) AS controller_id,
       CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.incarnation_id AS incarnation_id_before, a.incarnation_id AS incarnation_id_after,
       b.zk_migration_ready AS zk_migration_ready_before, a.zk_migration_ready AS zk_migration_ready_after,
       b.end_points AS end_points_before, a.end_points AS end_points_after,
       b.features AS features_before, a.features AS features_after
FROM (SELECT * FROM controllers
      WHERE valid_from_offset <= session.from_offset
        AND valid_to_offset > session.from_offset AND valid_to_offset <= session.to_offset) b
FULL OUTER JOIN (SELECT * FROM controllers
      WHERE valid_from_offset > session.from_offset AND valid_from_offset <= session.to_offset
        AND (valid_to_offset IS NULL OR valid_to_offset > session.to_offset)) a
ON a.controller_id = b.controller_id
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.from_offset AND end_offset > session.from_offset)
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.to_offset AND end_offset > session.to_offset)
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.incarnation_id IS NOT DISTINCT FROM a.incarnation_id
           AND b.zk_migration_ready IS NOT DISTINCT FROM a.zk_migration_ready
           AND b.end_points IS NOT DISTINCT FROM a.end_points
           AND b.features IS NOT DISTINCT FROM a.features));
