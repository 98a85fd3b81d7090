-- topics as of an offset, with the number of their partitions.
SELECT topics.topic_id, topics.topic, CAST(coalesce(counted.partitions, 0) AS INT) AS partitions,
       valid_from_offset, valid_from_time, from_snapshot
FROM topics
LEFT JOIN (SELECT topic_id, count(*) AS partitions FROM partitions_at GROUP BY topic_id) counted
     ON counted.topic_id = topics.topic_id
JOIN (SELECT start_offset AS known_from, end_offset AS known_to FROM known_ranges) known
     ON known_from <= :as_of AND known_to > :as_of
WHERE valid_from_offset <= :as_of AND (valid_to_offset IS NULL OR valid_to_offset > :as_of)
