-- All states of the partitions of a topic.
-- DECLARE OR REPLACE VARIABLE topic STRING DEFAULT 'orders';
SELECT topic_id, partition_id, valid_from_offset, valid_from_time, valid_to_offset, valid_to_time, ended_by,
       leader, leader_epoch, partition_epoch, leader_recovery_state, replicas, isr, elr
FROM partitions
WHERE topic = session.topic
ORDER BY topic_id, partition_id, valid_from_offset;
