-- producer_ids as of an offset.
WITH parameters AS (SELECT 4000 AS as_of)
SELECT next_producer_id, valid_from_offset, valid_from_time
FROM producer_ids
WHERE valid_from_offset <= (SELECT as_of FROM parameters) AND (valid_to_offset IS NULL OR valid_to_offset > (SELECT as_of FROM parameters))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT as_of FROM parameters) AND end_offset > (SELECT as_of FROM parameters));
