-- How delegation_tokens as of one offset differ from those as of an earlier one.
WITH parameters AS (SELECT 4000 AS from_offset, 5000 AS to_offset)
SELECT coalesce(b.token_id, a.token_id) AS token_id,
       CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.owner AS owner_before, a.owner AS owner_after,
       b.requester AS requester_before, a.requester AS requester_after,
       b.renewers AS renewers_before, a.renewers AS renewers_after,
       b.issue_time AS issue_time_before, a.issue_time AS issue_time_after,
       b.max_time AS max_time_before, a.max_time AS max_time_after,
       b.expiration_time AS expiration_time_before, a.expiration_time AS expiration_time_after
FROM (SELECT * FROM delegation_tokens
      WHERE valid_from_offset <= (SELECT from_offset FROM parameters)
        AND valid_to_offset > (SELECT from_offset FROM parameters) AND valid_to_offset <= (SELECT to_offset FROM parameters)) b
FULL OUTER JOIN (SELECT * FROM delegation_tokens
      WHERE valid_from_offset > (SELECT from_offset FROM parameters) AND valid_from_offset <= (SELECT to_offset FROM parameters)
        AND (valid_to_offset IS NULL OR valid_to_offset > (SELECT to_offset FROM parameters))) a
ON a.token_id = b.token_id
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT from_offset FROM parameters) AND end_offset > (SELECT from_offset FROM parameters))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT to_offset FROM parameters) AND end_offset > (SELECT to_offset FROM parameters))
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.owner IS NOT DISTINCT FROM a.owner
           AND b.requester IS NOT DISTINCT FROM a.requester
           AND b.renewers IS NOT DISTINCT FROM a.renewers
           AND b.issue_time IS NOT DISTINCT FROM a.issue_time
           AND b.max_time IS NOT DISTINCT FROM a.max_time
           AND b.expiration_time IS NOT DISTINCT FROM a.expiration_time));
