-- How producer_ids as of one offset differ from those as of an earlier one.
-- DECLARE OR REPLACE VARIABLE from_offset BIGINT DEFAULT 4000;
-- DECLARE OR REPLACE VARIABLE to_offset BIGINT DEFAULT 5000;
SELECT CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.next_producer_id AS next_producer_id_before, a.next_producer_id AS next_producer_id_after
FROM (SELECT * FROM producer_ids
      WHERE valid_from_offset <= session.from_offset
        AND valid_to_offset > session.from_offset AND valid_to_offset <= session.to_offset) b
FULL OUTER JOIN (SELECT * FROM producer_ids
      WHERE valid_from_offset > session.from_offset AND valid_from_offset <= session.to_offset
        AND (valid_to_offset IS NULL OR valid_to_offset > session.to_offset)) a
ON a.cluster_id = b.cluster_id
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.from_offset AND end_offset > session.from_offset)
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.to_offset AND end_offset > session.to_offset)
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.next_producer_id IS NOT DISTINCT FROM a.next_producer_id));
