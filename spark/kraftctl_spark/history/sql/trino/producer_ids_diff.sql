-- How producer_ids as of one offset differ from those as of an earlier one.
WITH parameters AS (SELECT 4000 AS from_offset, 5000 AS to_offset)
SELECT CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.next_producer_id AS next_producer_id_before, a.next_producer_id AS next_producer_id_after
FROM (SELECT * FROM producer_ids
      WHERE valid_from_offset <= (SELECT from_offset FROM parameters)
        AND valid_to_offset > (SELECT from_offset FROM parameters) AND valid_to_offset <= (SELECT to_offset FROM parameters)) b
FULL OUTER JOIN (SELECT * FROM producer_ids
      WHERE valid_from_offset > (SELECT from_offset FROM parameters) AND valid_from_offset <= (SELECT to_offset FROM parameters)
        AND (valid_to_offset IS NULL OR valid_to_offset > (SELECT to_offset FROM parameters))) a
ON a.cluster_id = b.cluster_id
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT from_offset FROM parameters) AND end_offset > (SELECT from_offset FROM parameters))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT to_offset FROM parameters) AND end_offset > (SELECT to_offset FROM parameters))
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.next_producer_id IS NOT DISTINCT FROM a.next_producer_id));
