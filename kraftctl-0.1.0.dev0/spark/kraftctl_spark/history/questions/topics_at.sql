-- topics as of an offset, with the number of their partitions; null where those are not known.
SELECT topics.topic_id, topics.topic,
       CASE WHEN counted_to > :as_of THEN CAST(coalesce(counted.partitions, 0) AS INT) END AS partitions,
       valid_from_offset, valid_from_time, from_snapshot
FROM topics
LEFT JOIN (SELECT topic_id, count(*) AS partitions FROM partitions_at GROUP BY topic_id) counted
     ON counted.topic_id = topics.topic_id
JOIN (SELECT named.start_offset AS known_from, named.end_offset AS known_to, parts.end_offset AS counted_to
      FROM known_tables named
      JOIN known_tables parts ON parts.start_offset = named.start_offset
      WHERE named.history_table = 'topics' AND parts.history_table = 'partitions') known
     ON known_from <= :as_of AND known_to > :as_of
WHERE valid_from_offset <= :as_of AND (valid_to_offset IS NULL OR valid_to_offset > :as_of)
