-- delegation_tokens as of an offset.
-- SET VARIABLE as_of = 4000;
SELECT token_id, owner, requester, renewers, issue_time, max_time, expiration_time, valid_from_offset, valid_from_time
FROM delegation_tokens
WHERE valid_from_offset <= getvariable('as_of') AND (valid_to_offset IS NULL OR valid_to_offset > getvariable('as_of'))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= getvariable('as_of') AND end_offset > getvariable('as_of'));
