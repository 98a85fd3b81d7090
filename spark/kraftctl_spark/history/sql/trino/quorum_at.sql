-- quorum as of an offset.
WITH parameters AS (SELECT 4000 AS as_of)
SELECT leader_id, leader_epoch, voters, kraft_version, valid_from_offset, valid_from_time
FROM quorum
WHERE valid_from_offset <= (SELECT as_of FROM parameters) AND (valid_to_offset IS NULL OR valid_to_offset > (SELECT as_of FROM parameters))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT as_of FROM parameters) AND end_offset > (SELECT as_of FROM parameters));
