-- Every election of a leader; an unclean one may have lost data. The first leader of a partition is not elected.
SELECT e.offset AS offset, e.time, e.topic_id, e.partition_id, e.subject AS topic_partition,
       CAST(e.before AS INT) AS old_leader, CAST(e.after AS INT) AS new_leader,
       e.kind = 'unclean election' AS unclean
FROM events e
WHERE e.kind IN ('leader elected', 'unclean election');
