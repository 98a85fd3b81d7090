-- The levels of each feature, from when to when.
SELECT name, level, valid_from_offset, valid_from_time, valid_to_offset, valid_to_time, ended_by
FROM features
ORDER BY name, valid_from_offset
