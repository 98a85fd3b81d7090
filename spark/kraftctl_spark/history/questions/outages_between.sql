-- The outages in a window of time, and how much of each is in it. A window that ends before it begins is none.
SELECT kind, topic_id, topic, partition_id, start_offset, start_time, end_offset, end_time,
       greatest(unix_millis(least(end_time, :until_time)) - unix_millis(greatest(start_time, :from_time)), 0)
           AS in_window_ms, ended_by
FROM outages
WHERE start_time < :until_time AND (end_time > :from_time OR start_time >= :from_time)
      AND :from_time <= :until_time
