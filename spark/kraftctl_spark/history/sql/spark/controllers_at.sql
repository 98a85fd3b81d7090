-- controllers as of an offset.
-- DECLARE OR REPLACE VARIABLE as_of BIGINT DEFAULT 4000;
SELECT controller_id, incarnation_id, zk_migration_ready, end_points, features, valid_from_offset, valid_from_time
FROM controllers
WHERE valid_from_offset <= session.as_of AND (valid_to_offset IS NULL OR valid_to_offset > session.as_of)
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.as_of AND end_offset > session.as_of);
