-- Where each broker listens, from when to when.
WITH marked AS (
    SELECT *, CASE WHEN lag(valid_to_offset) OVER of_broker = valid_from_offset
                    AND lag(ended_by) OVER of_broker <> 'gap'
                    AND lag(end_points) OVER of_broker IS NOT DISTINCT FROM end_points
                   THEN 0 ELSE 1 END AS begins
    FROM brokers
    WINDOW of_broker AS (PARTITION BY broker_id ORDER BY valid_from_offset)
),
numbered AS (
    SELECT *, sum(begins) OVER (PARTITION BY broker_id ORDER BY valid_from_offset) AS number
    FROM marked
)
SELECT broker_id, min_by(end_points, valid_from_offset) AS end_points,
       min(valid_from_offset) AS start_offset, min_by(valid_from_time, valid_from_offset) AS start_time,
       CASE WHEN count(*) = count(valid_to_offset) THEN max(valid_to_offset) END AS end_offset,
       CASE WHEN count(*) = count(valid_to_offset) THEN max_by(valid_to_time, valid_to_offset) END
           AS end_time
FROM numbered
GROUP BY broker_id, number
ORDER BY broker_id, start_offset;
