-- acls as of an offset.
-- DECLARE OR REPLACE VARIABLE as_of BIGINT DEFAULT 4000;
SELECT id, resource_type, resource_name, pattern_type, principal, host, operation, permission, valid_from_offset, valid_from_time
FROM acls
WHERE valid_from_offset <= session.as_of AND (valid_to_offset IS NULL OR valid_to_offset > session.as_of)
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.as_of AND end_offset > session.as_of);
