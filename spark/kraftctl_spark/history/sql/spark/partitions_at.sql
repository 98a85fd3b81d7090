-- partitions as of an offset.
-- DECLARE OR REPLACE VARIABLE as_of BIGINT DEFAULT 4000;
SELECT topic_id, partition_id, topic, leader, leader_epoch, partition_epoch, leader_recovery_state, replicas, isr, adding_replicas, removing_replicas, elr, last_known_elr, directories, valid_from_offset, valid_from_time
FROM partitions
WHERE valid_from_offset <= session.as_of AND (valid_to_offset IS NULL OR valid_to_offset > session.as_of)
  AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= session.as_of AND end_offset > session.as_of);
