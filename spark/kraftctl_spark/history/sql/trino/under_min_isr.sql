-- As of an offset: partitions with fewer members in the ISR than min.insync.replicas, as far as the log has it.
WITH parameters AS (SELECT 4000 AS as_of),
minimum AS (
    SELECT resource_type, resource_name, topic_id, CAST(value AS INT) AS replicas
    FROM configs
    WHERE name = 'min.insync.replicas' AND value <> '(redacted)'
      AND valid_from_offset <= (SELECT as_of FROM parameters) AND (valid_to_offset IS NULL OR valid_to_offset > (SELECT as_of FROM parameters))
),
of_partition AS (
    SELECT p.topic_id, p.topic, p.partition_id, p.leader, p.isr,
           coalesce(t.replicas,
                    (SELECT max(m.replicas) FROM minimum m
                     WHERE m.resource_type = 'BROKER' AND m.resource_name = ''),
                    1) AS min_insync_replicas
    FROM partitions p
    LEFT JOIN minimum t ON t.topic_id = p.topic_id
    WHERE p.valid_from_offset <= (SELECT as_of FROM parameters) AND (p.valid_to_offset IS NULL OR p.valid_to_offset > (SELECT as_of FROM parameters))
      AND EXISTS (SELECT 1 FROM known_ranges WHERE start_offset <= (SELECT as_of FROM parameters) AND end_offset > (SELECT as_of FROM parameters))
)
SELECT topic_id, topic, partition_id, leader, isr, min_insync_replicas
FROM of_partition
WHERE cardinality(isr) < min_insync_replicas
ORDER BY topic, partition_id;
