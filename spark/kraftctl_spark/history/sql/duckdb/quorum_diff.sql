-- How quorum as of one offset differ from those as of an earlier one.
-- SET VARIABLE from_offset = 4000;
-- SET VARIABLE to_offset = 5000;
SELECT CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.leader_id AS leader_id_before, a.leader_id AS leader_id_after,
       b.leader_epoch AS leader_epoch_before, a.leader_epoch AS leader_epoch_after,
       b.voters AS voters_before, a.voters AS voters_after,
       b.kraft_version AS kraft_version_before, a.kraft_version AS kraft_version_after
FROM (SELECT * FROM quorum
      WHERE valid_from_offset <= getvariable('from_offset')
        AND valid_to_offset > getvariable('from_offset') AND valid_to_offset <= getvariable('to_offset')) b
FULL OUTER JOIN (SELECT * FROM quorum
      WHERE valid_from_offset > getvariable('from_offset') AND valid_from_offset <= getvariable('to_offset')
        AND (valid_to_offset IS NULL OR valid_to_offset > getvariable('to_offset'))) a
ON a.cluster_id = b.cluster_id
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= getvariable('from_offset') AND end_offset > getvariable('from_offset'))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= getvariable('to_offset') AND end_offset > getvariable('to_offset'))
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.leader_id IS NOT DISTINCT FROM a.leader_id
           AND b.leader_epoch IS NOT DISTINCT FROM a.leader_epoch
           AND b.voters IS NOT DISTINCT FROM a.voters
           AND b.kraft_version IS NOT DISTINCT FROM a.kraft_version));
