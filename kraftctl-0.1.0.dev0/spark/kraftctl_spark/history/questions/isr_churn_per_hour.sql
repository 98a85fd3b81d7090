-- How often the ISR of a partition shrank and grew in a UTC hour.
SELECT timestamp_seconds(unix_seconds(time) - unix_seconds(time) % 3600) AS hour, topic_id, topic, partition_id,
       count(CASE WHEN kind <> 'ISR grew' THEN 1 END) AS shrinks,
       count(CASE WHEN kind <> 'ISR shrank' THEN 1 END) AS expansions
FROM isr_changes
GROUP BY 1, topic_id, topic, partition_id
