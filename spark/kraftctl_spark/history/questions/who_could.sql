-- Which ACLs allowed an operation on a resource as of an offset, to a principal, or to any for a null one.
-- As Kafka's authorizer has it: prefixes and '*' match, ALL contains every operation, READ, WRITE, DELETE and ALTER
-- contain DESCRIBE, ALTER_CONFIGS contains DESCRIBE_CONFIGS, and a denial is stronger. Denials that leave something
-- of it, such as those of one host, are counted. Super users are not in the log. Names of operations and of types of
-- resources may also be written as Kafka's tools take them: Describe, DescribeConfigs.
WITH spelled AS (
    SELECT *, replace(operation, '_', '') AS does, upper(replace(:of_operation, '_', '')) AS wanted
    FROM acls_at
    WHERE replace(resource_type, '_', '') = upper(replace(:of_resource_type, '_', ''))
),
matching AS (
    SELECT id, permission, principal, host, operation, pattern_type, resource_name
    FROM spelled
    WHERE (pattern_type = 'LITERAL' AND (resource_name = :of_resource OR resource_name = '*')
           OR pattern_type = 'PREFIXED' AND substr(:of_resource, 1, length(resource_name)) = resource_name)
      AND (:of_principal IS NULL OR principal = :of_principal OR principal = 'User:*')
      AND (does = wanted OR does = 'ALL'
           OR permission = 'ALLOW' AND wanted = 'DESCRIBE' AND does IN ('READ', 'WRITE', 'DELETE', 'ALTER')
           OR permission = 'ALLOW' AND wanted = 'DESCRIBECONFIGS' AND does = 'ALTERCONFIGS')
),
compared AS (
    SELECT allowed.id, allowed.principal, allowed.host, allowed.operation, allowed.pattern_type, allowed.resource_name,
           CASE WHEN denied.id IS NULL THEN 0
                WHEN (denied.host = '*' OR denied.host = allowed.host)
                     AND (denied.principal = 'User:*' OR denied.principal = allowed.principal
                          OR :of_principal IS NOT NULL)
                THEN 1 ELSE 0 END AS is_denied,
           CASE WHEN denied.id IS NULL THEN 0 ELSE 1 END AS is_narrowed
    FROM (SELECT * FROM matching WHERE permission = 'ALLOW') allowed
    LEFT JOIN (SELECT * FROM matching WHERE permission = 'DENY') denied
         ON (denied.principal = allowed.principal OR denied.principal = 'User:*' OR allowed.principal = 'User:*')
        AND (denied.host = allowed.host OR denied.host = '*' OR allowed.host = '*'
             OR denied.host LIKE '%/%' OR allowed.host LIKE '%/%')
)
SELECT principal, host, operation, pattern_type, resource_name, id, CAST(sum(is_narrowed) AS BIGINT) AS narrower_denials
FROM compared
GROUP BY principal, host, operation, pattern_type, resource_name, id
HAVING max(is_denied) = 0
ORDER BY principal, host, id
