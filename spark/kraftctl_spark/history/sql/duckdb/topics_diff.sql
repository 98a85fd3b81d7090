-- How topics as of one offset differ from those as of an earlier one.
-- SET VARIABLE from_offset = 4000;
-- SET VARIABLE to_offset = 5000;
SELECT coalesce(b.topic_id, a.topic_id) AS topic_id,
       CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.topic AS topic_before, a.topic AS topic_after
FROM (SELECT * FROM topics
      WHERE valid_from_offset <= getvariable('from_offset')
        AND valid_to_offset > getvariable('from_offset') AND valid_to_offset <= getvariable('to_offset')) b
FULL OUTER JOIN (SELECT * FROM topics
      WHERE valid_from_offset > getvariable('from_offset') AND valid_from_offset <= getvariable('to_offset')
        AND (valid_to_offset IS NULL OR valid_to_offset > getvariable('to_offset'))) a
ON a.topic_id = b.topic_id
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= getvariable('from_offset') AND end_offset > getvariable('from_offset'))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= getvariable('to_offset') AND end_offset > getvariable('to_offset'))
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.topic IS NOT DISTINCT FROM a.topic));
