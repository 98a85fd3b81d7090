-- Every change of an ISR that removed or added a broker.
SELECT offset, time, topic_id, topic, partition_id, kind,
       CASE WHEN kind = 'ISR grew' THEN CAST(array() AS ARRAY<INT>)
            ELSE array_except(old_isr, new_isr) END AS removed,
       CASE WHEN kind = 'ISR shrank' THEN CAST(array() AS ARRAY<INT>)
            ELSE array_except(new_isr, old_isr) END AS added,
       old_isr, new_isr
FROM (
    SELECT e.offset AS offset, e.time, e.topic_id,
           substr(e.subject, 1, length(e.subject) - length(CAST(e.partition_id AS STRING)) - 1) AS topic,
           e.partition_id, e.kind,
           -- A cast ignores the spaces. Spark splits at one character without a regular expression.
           CASE WHEN e.before = '[]' THEN CAST(array() AS ARRAY<INT>)
                ELSE CAST(split(substr(e.before, 2, length(e.before) - 2), ',') AS ARRAY<INT>) END AS old_isr,
           CASE WHEN e.after = '[]' THEN CAST(array() AS ARRAY<INT>)
                ELSE CAST(split(substr(e.after, 2, length(e.after) - 2), ',') AS ARRAY<INT>) END AS new_isr
    FROM events e
    WHERE e.kind IN ('ISR shrank', 'ISR grew', 'ISR shrank and grew')
) AS changes
