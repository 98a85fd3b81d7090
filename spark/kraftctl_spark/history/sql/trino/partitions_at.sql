-- partitions as of an offset.
WITH parameters AS (SELECT 4000 AS as_of)
SELECT topic_id, partition_id, topic, leader, leader_epoch, partition_epoch, leader_recovery_state, replicas, isr, adding_replicas, removing_replicas, elr, last_known_elr, directories, valid_from_offset, valid_from_time
FROM partitions
WHERE valid_from_offset <= (SELECT as_of FROM parameters) AND (valid_to_offset IS NULL OR valid_to_offset > (SELECT as_of FROM parameters))
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT as_of FROM parameters) AND end_offset > (SELECT as_of FROM parameters));
