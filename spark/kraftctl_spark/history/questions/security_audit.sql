-- Every change of ACLs, quotas, SCRAM credentials and delegation tokens.
-- A new secret alone is none: a password that changes with the same iterations, or the key of a token.
SELECT e.offset AS offset, e.time, e.batch_offset, e.kind, e.subject, e.before, e.after
FROM events e
WHERE e.history_table IN ('acls', 'quotas', 'scram_credentials', 'delegation_tokens')
ORDER BY e.offset
