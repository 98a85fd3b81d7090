-- Every change of ACLs, quotas, SCRAM credentials and delegation tokens.
-- A credential that is set again with the same iterations is one: it may have another password.
SELECT e.offset AS offset, e.time, e.batch_offset, e.kind, e.subject, e.before, e.after
FROM events e
WHERE e.history_table IN ('acls', 'quotas', 'scram_credentials', 'delegation_tokens')
ORDER BY e.offset
