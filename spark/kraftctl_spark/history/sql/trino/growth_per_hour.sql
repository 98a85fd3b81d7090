-- Topics, partitions and brokers that came and left in each UTC hour.
SELECT date_trunc('hour', e.time) AS hour,
       count(CASE WHEN e.kind = 'topic created' THEN 1 END) AS topics_created,
       count(CASE WHEN e.kind = 'topic deleted' THEN 1 END) AS topics_deleted,
       count(CASE WHEN e.kind = 'partition created' THEN 1 END) AS partitions_created,
       count(CASE WHEN e.kind = 'partition deleted' THEN 1 END) AS partitions_deleted,
       count(CASE WHEN e.kind = 'broker registered' THEN 1 END) AS brokers_registered,
       count(CASE WHEN e.kind = 'broker unregistered' THEN 1 END) AS brokers_unregistered
FROM events e
WHERE e.kind IN ('topic created', 'topic deleted', 'partition created', 'partition deleted',
                 'broker registered', 'broker unregistered')
GROUP BY 1
ORDER BY hour;
