-- How partitions as of one offset differ from those as of an earlier one.
WITH parameters AS (SELECT 4000 AS from_offset, 5000 AS to_offset)
SELECT coalesce(b.topic_id, a.topic_id) AS topic_id,
       coalesce(b.partition_id, a.partition_id) AS partition_id,
       CASE WHEN b.valid_from_offset IS NULL THEN 'added'
            WHEN a.valid_from_offset IS NULL THEN 'removed' ELSE 'changed' END AS change,
       b.topic AS topic_before, a.topic AS topic_after,
       b.leader AS leader_before, a.leader AS leader_after,
       b.leader_epoch AS leader_epoch_before, a.leader_epoch AS leader_epoch_after,
       b.partition_epoch AS partition_epoch_before, a.partition_epoch AS partition_epoch_after,
       b.leader_recovery_state AS leader_recovery_state_before, a.leader_recovery_state AS leader_recovery_state_after,
       b.replicas AS replicas_before, a.replicas AS replicas_after,
       b.isr AS isr_before, a.isr AS isr_after,
       b.adding_replicas AS adding_replicas_before, a.adding_replicas AS adding_replicas_after,
       b.removing_replicas AS removing_replicas_before, a.removing_replicas AS removing_replicas_after,
       b.elr AS elr_before, a.elr AS elr_after,
       b.last_known_elr AS last_known_elr_before, a.last_known_elr AS last_known_elr_after,
       b.directories AS directories_before, a.directories AS directories_after
FROM (SELECT * FROM partitions
      WHERE valid_from_offset <= (SELECT from_offset FROM parameters)
        AND valid_to_offset > (SELECT from_offset FROM parameters) AND valid_to_offset <= (SELECT to_offset FROM parameters)) b
FULL OUTER JOIN (SELECT * FROM partitions
      WHERE valid_from_offset > (SELECT from_offset FROM parameters) AND valid_from_offset <= (SELECT to_offset FROM parameters)
        AND (valid_to_offset IS NULL OR valid_to_offset > (SELECT to_offset FROM parameters))) a
ON a.topic_id = b.topic_id AND a.partition_id = b.partition_id
WHERE EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT from_offset FROM parameters) AND end_offset > (SELECT from_offset FROM parameters))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT to_offset FROM parameters) AND end_offset > (SELECT to_offset FROM parameters))
  AND (b.valid_from_offset IS NULL OR a.valid_from_offset IS NULL
       OR NOT (b.topic IS NOT DISTINCT FROM a.topic
           AND b.leader IS NOT DISTINCT FROM a.leader
           AND b.leader_epoch IS NOT DISTINCT FROM a.leader_epoch
           AND b.partition_epoch IS NOT DISTINCT FROM a.partition_epoch
           AND b.leader_recovery_state IS NOT DISTINCT FROM a.leader_recovery_state
           AND b.replicas IS NOT DISTINCT FROM a.replicas
           AND b.isr IS NOT DISTINCT FROM a.isr
           AND b.adding_replicas IS NOT DISTINCT FROM a.adding_replicas
           AND b.removing_replicas IS NOT DISTINCT FROM a.removing_replicas
           AND b.elr IS NOT DISTINCT FROM a.elr
           AND b.last_known_elr IS NOT DISTINCT FROM a.last_known_elr
           AND b.directories IS NOT DISTINCT FROM a.directories));
