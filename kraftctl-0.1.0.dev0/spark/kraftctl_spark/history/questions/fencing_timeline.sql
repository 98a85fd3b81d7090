-- The states of each broker, from when to when; what has not ended extends to the last known time.
WITH beside AS (
    SELECT *, lag(state) OVER of_broker AS previous_state, lag(broker_epoch) OVER of_broker AS previous_epoch,
           lead(broker_epoch) OVER of_broker AS next_epoch,
           coalesce(lag(valid_to_offset) OVER of_broker = valid_from_offset
                    AND lag(ended_by) OVER of_broker <> 'gap', false) AS follows
    FROM brokers
    WINDOW of_broker AS (PARTITION BY broker_id ORDER BY valid_from_offset)
),
numbered AS (
    SELECT *, sum(CASE WHEN follows AND previous_state = state AND previous_epoch = broker_epoch
                       THEN 0 ELSE 1 END)
                  OVER (PARTITION BY broker_id ORDER BY valid_from_offset) AS number
    FROM beside
),
states AS (
    SELECT broker_id, min(broker_epoch) AS broker_epoch, min(state) AS state,
           min(valid_from_offset) AS start_offset, min_by(valid_from_time, valid_from_offset) AS start_time,
           max_by(valid_to_offset, valid_from_offset) AS end_offset,
           max_by(CASE WHEN valid_to_offset IS NULL THEN (SELECT max_by(end_time, end_offset) FROM known_ranges)
                       ELSE valid_to_time END, valid_from_offset) AS end_time,
           min_by(CASE WHEN from_snapshot THEN 'snapshot'
                       WHEN follows AND previous_epoch = broker_epoch THEN 'changed'
                       ELSE 'registered' END, valid_from_offset) AS started_by,
           max_by(CASE WHEN ended_by = 'removed' THEN 'unregistered'
                       WHEN ended_by = 'changed' AND next_epoch <> broker_epoch THEN 'registered'
                       ELSE ended_by END, valid_from_offset) AS ended_by
    FROM numbered
    GROUP BY broker_id, number
)
SELECT broker_id, broker_epoch, state, start_offset, start_time, end_offset, end_time,
       CASE WHEN end_time < start_time THEN 0 ELSE unix_millis(end_time) - unix_millis(start_time) END AS duration_ms,
       started_by, ended_by
FROM states
ORDER BY broker_id, start_offset
