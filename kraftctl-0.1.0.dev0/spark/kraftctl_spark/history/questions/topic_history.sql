-- Every topic that ever existed: when it was created and deleted.
-- One that was last known where a gap begins, and is not in the snapshot after it, was deleted in the gap.
SELECT topic_id, max_by(topic, valid_from_offset) AS topic,
       min(CASE WHEN NOT from_snapshot THEN valid_from_offset END) AS created_offset,
       min(CASE WHEN NOT from_snapshot THEN valid_from_time END) AS created_time,
       max(CASE WHEN ended_by = 'removed' THEN valid_to_offset END) AS deleted_offset,
       max(CASE WHEN ended_by = 'removed' THEN valid_to_time END) AS deleted_time,
       max_by(ended_by, valid_from_offset) AS ended_by
FROM topics
GROUP BY topic_id
