-- As of an offset: partitions with fewer members in the ISR than min.insync.replicas, as far as the log has it.
-- What is no number counts as if it was not set.
-- Where the configurations are not known, it is null: partitions with fewer members than replicas may be under it.
WITH minimum AS (
    SELECT resource_type, resource_name, topic_id, TRY_CAST(value AS INT) AS replicas
    FROM configs_at
    WHERE name = 'min.insync.replicas'
),
ranges_of_configs AS (
    SELECT CASE WHEN start_offset <= :as_of AND end_offset > :as_of THEN 1 ELSE 0 END AS has_it
    FROM known_tables
    WHERE history_table = 'configs'
),
known AS (
    SELECT max(has_it) AS is_known FROM ranges_of_configs
),
of_partition AS (
    SELECT p.topic_id, p.topic, p.partition_id, p.leader, p.isr,
           CASE WHEN is_known = 1 THEN coalesce(t.replicas, of_cluster.replicas, 1) END AS min_insync_replicas,
           size(p.isr) < size(p.replicas) AS lacks_some
    FROM partitions_at p
    CROSS JOIN known
    LEFT JOIN minimum t ON t.topic_id = p.topic_id
    LEFT JOIN minimum of_cluster ON of_cluster.resource_type = 'BROKER' AND of_cluster.resource_name = ''
)
SELECT topic_id, topic, partition_id, leader, isr, min_insync_replicas
FROM of_partition
WHERE size(isr) < min_insync_replicas OR min_insync_replicas IS NULL AND lacks_some
ORDER BY topic, partition_id
