-- As of an offset: partitions with fewer members in the ISR than min.insync.replicas, as far as the log has it.
-- What is no number counts as if it was not set.
-- Where the configurations are not known, it is 1.
WITH minimum AS (
    SELECT resource_type, resource_name, topic_id, TRY_CAST(value AS INT) AS replicas
    FROM configs_at
    WHERE name = 'min.insync.replicas'
),
of_partition AS (
    SELECT p.topic_id, p.topic, p.partition_id, p.leader, p.isr,
           coalesce(t.replicas, of_cluster.replicas, 1) AS min_insync_replicas
    FROM partitions_at p
    LEFT JOIN minimum t ON t.topic_id = p.topic_id
    LEFT JOIN minimum of_cluster ON of_cluster.resource_type = 'BROKER' AND of_cluster.resource_name = ''
)
SELECT topic_id, topic, partition_id, leader, isr, min_insync_replicas
FROM of_partition
WHERE size(isr) < min_insync_replicas
ORDER BY topic, partition_id
