-- The events with their texts as columns: lists of brokers, leaders, the resource, the configuration, the principal.
-- What one record says of a configuration, an ACL, a credential or a token is in the version that it begins or ends.
WITH of_configs AS (
    SELECT valid_from_offset AS at_offset, resource_type, resource_name, name FROM configs WHERE NOT from_snapshot
    UNION
    SELECT valid_to_offset, resource_type, resource_name, name FROM configs WHERE ended_by IN ('changed', 'removed')
),
named_configs AS (
    SELECT *, concat(resource_type, CASE WHEN resource_name = '' THEN '' ELSE concat(' ', resource_name) END,
                     ' ', name) AS named
    FROM of_configs
),
of_principals AS (
    SELECT valid_from_offset AS at_offset, 'acls' AS of_table, principal, resource_type, resource_name
    FROM acls WHERE NOT from_snapshot
    UNION
    SELECT valid_to_offset, 'acls', principal, resource_type, resource_name FROM acls WHERE ended_by = 'removed'
    UNION
    SELECT valid_from_offset, 'scram_credentials', concat('User:', user), 'USER', user
    FROM scram_credentials WHERE NOT from_snapshot
    UNION
    SELECT valid_to_offset, 'scram_credentials', concat('User:', user), 'USER', user
    FROM scram_credentials WHERE ended_by = 'removed'
    UNION
    SELECT valid_from_offset, 'delegation_tokens', owner, 'DELEGATION_TOKEN', token_id
    FROM delegation_tokens WHERE NOT from_snapshot
    UNION
    SELECT valid_to_offset, 'delegation_tokens', owner, 'DELEGATION_TOKEN', token_id
    FROM delegation_tokens WHERE ended_by = 'removed'
),
marked AS (
    SELECT e.*, e.history_table = 'partitions' AND e.kind <> 'directories changed' AS has_lists,
           e.kind IN ('leader elected', 'unclean election', 'leader lost') AS has_leaders
    FROM events e
)
SELECT m.offset AS offset, m.time, m.batch_offset, m.kind, m.subject, m.before, m.after, m.history_table,
       m.topic_id, m.partition_id, m.broker_id,
       -- A cast ignores the spaces. Spark splits at one character without a regular expression.
       CASE WHEN has_lists AND m.before = '[]' THEN CAST(array() AS ARRAY<INT>)
            WHEN has_lists AND m.before LIKE '[%'
            THEN CAST(split(substr(m.before, 2, length(m.before) - 2), ',') AS ARRAY<INT>) END AS brokers_before,
       CASE WHEN has_lists AND m.after = '[]' THEN CAST(array() AS ARRAY<INT>)
            WHEN has_lists AND m.after LIKE '[%'
            THEN CAST(split(substr(m.after, 2, length(m.after) - 2), ',') AS ARRAY<INT>) END AS brokers_after,
       CASE WHEN has_leaders THEN CAST(m.before AS INT) END AS leader_before,
       CASE WHEN has_leaders THEN CAST(m.after AS INT) END AS leader_after,
       CASE WHEN m.topic_id IS NOT NULL THEN 'TOPIC' WHEN c.name IS NOT NULL THEN c.resource_type
            WHEN p.principal IS NOT NULL THEN p.resource_type WHEN m.broker_id IS NOT NULL THEN 'BROKER' END
           AS resource_type,
       CASE WHEN c.name IS NOT NULL THEN c.resource_name WHEN p.principal IS NOT NULL THEN p.resource_name
            WHEN m.partition_id IS NOT NULL AND m.topic_id IS NOT NULL AND m.history_table = 'partitions'
            THEN substr(m.subject, 1, length(m.subject) - length(CAST(m.partition_id AS STRING)) - 1)
            WHEN m.history_table = 'topics' THEN m.subject
            WHEN m.broker_id IS NOT NULL THEN CAST(m.broker_id AS STRING) END AS resource_name,
       c.name AS config_name, p.principal
FROM marked m
LEFT JOIN named_configs c ON c.at_offset = m.offset AND m.history_table = 'configs' AND c.named = m.subject
LEFT JOIN of_principals p ON p.at_offset = m.offset AND p.of_table = m.history_table
