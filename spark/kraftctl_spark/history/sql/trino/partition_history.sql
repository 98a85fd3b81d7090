-- All states of the partitions of a topic.
WITH parameters AS (SELECT 'orders' AS topic)
SELECT topic_id, partition_id, valid_from_offset, valid_from_time, valid_to_offset, valid_to_time, ended_by,
       leader, leader_epoch, partition_epoch, leader_recovery_state, replicas, isr, elr
FROM partitions
WHERE topic = (SELECT topic FROM parameters)
ORDER BY topic_id, partition_id, valid_from_offset;
