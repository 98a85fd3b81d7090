-- producer_ids as of an offset.
-- SET VARIABLE as_of = 4000;
SELECT next_producer_id, valid_from_offset, valid_from_time
FROM producer_ids
WHERE valid_from_offset <= getvariable('as_of') AND (valid_to_offset IS NULL OR valid_to_offset > getvariable('as_of'))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= getvariable('as_of') AND end_offset > getvariable('as_of'));
