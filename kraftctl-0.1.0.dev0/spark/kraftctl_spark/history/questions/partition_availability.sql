-- How long each partition was leaderless and under-replicated in total, and how long its state is known.
SELECT topic_id, topic, partition_id, CAST(sum(duration_ms) AS BIGINT) AS observed_ms,
       CAST(sum(CASE WHEN leaderless THEN duration_ms ELSE 0 END) AS BIGINT) AS leaderless_ms,
       CAST(sum(CASE WHEN under_replicated THEN duration_ms ELSE 0 END) AS BIGINT) AS under_replicated_ms
FROM partition_history
GROUP BY topic_id, topic, partition_id
