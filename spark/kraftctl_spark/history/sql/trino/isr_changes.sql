-- Every change of an ISR that removed or added a broker.
SELECT e.offset AS offset, e.time, e.topic_id, e.subject AS topic_partition, e.kind,
       e.before AS old_isr, e.after AS new_isr
FROM events e
WHERE e.kind IN ('ISR shrank', 'ISR grew', 'ISR shrank and grew');
