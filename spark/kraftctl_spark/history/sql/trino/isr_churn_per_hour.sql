-- How often the ISR of a partition shrank and grew in a UTC hour.
SELECT date_trunc('hour', e.time) AS hour,
       e.topic_id, e.partition_id, e.subject AS topic_partition,
       count(CASE WHEN e.kind IN ('ISR shrank', 'ISR shrank and grew') THEN 1 END) AS shrinks,
       count(CASE WHEN e.kind IN ('ISR grew', 'ISR shrank and grew') THEN 1 END) AS expansions
FROM events e
WHERE e.kind IN ('ISR shrank', 'ISR grew', 'ISR shrank and grew')
GROUP BY 1, e.topic_id, e.partition_id, e.subject;
