-- All states of the partitions of a topic.
SELECT *
FROM partition_history
WHERE topic = :topic
ORDER BY topic_id, partition_id, start_offset
