-- How brokers as of one offset differ from those as of an earlier one.
WITH parameters AS (SELECT 4000 AS from_offset, 5000 AS to_offset)
SELECT coalesce(b.broker_id, a.broker_id) AS broker_id,
       CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.broker_epoch AS broker_epoch_before, a.broker_epoch AS broker_epoch_after,
       b.state AS state_before, a.state AS state_after,
       b.fenced AS fenced_before, a.fenced AS fenced_after,
       b.in_controlled_shutdown AS in_controlled_shutdown_before, a.in_controlled_shutdown AS in_controlled_shutdown_after,
       b.incarnation_id AS incarnation_id_before, a.incarnation_id AS incarnation_id_after,
       b.rack AS rack_before, a.rack AS rack_after,
       b.log_dirs AS log_dirs_before, a.log_dirs AS log_dirs_after,
       b.cordoned_log_dirs AS cordoned_log_dirs_before, a.cordoned_log_dirs AS cordoned_log_dirs_after,
       b.end_points AS end_points_before, a.end_points AS end_points_after,
       b.features AS features_before, a.features AS features_after
FROM (SELECT * FROM brokers
      WHERE valid_from_offset <= (SELECT from_offset FROM parameters)
        AND valid_to_offset > (SELECT from_offset FROM parameters) AND valid_to_offset <= (SELECT to_offset FROM parameters)) b
FULL OUTER JOIN (SELECT * FROM brokers
      WHERE valid_from_offset > (SELECT from_offset FROM parameters) AND valid_from_offset <= (SELECT to_offset FROM parameters)
        AND (valid_to_offset IS NULL OR valid_to_offset > (SELECT to_offset FROM parameters))) a
ON a.broker_id = b.broker_id
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT from_offset FROM parameters) AND end_offset > (SELECT from_offset FROM parameters))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT to_offset FROM parameters) AND end_offset > (SELECT to_offset FROM parameters))
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.broker_epoch IS NOT DISTINCT FROM a.broker_epoch
           AND b.state IS NOT DISTINCT FROM a.state
           AND b.fenced IS NOT DISTINCT FROM a.fenced
           AND b.in_controlled_shutdown IS NOT DISTINCT FROM a.in_controlled_shutdown
           AND b.incarnation_id IS NOT DISTINCT FROM a.incarnation_id
           AND b.rack IS NOT DISTINCT FROM a.rack
           AND b.log_dirs IS NOT DISTINCT FROM a.log_dirs
           AND b.cordoned_log_dirs IS NOT DISTINCT FROM a.cordoned_log_dirs
           AND b.end_points IS NOT DISTINCT FROM a.end_points
           AND b.features IS NOT DISTINCT FROM a.features));
