"""The audit log's lines: who asked for which change, and what came of it.

`audit_trail` decides which requests have an entry, `described_change` says what a request asks for, and
`response_errors` what its response says. `server/` writes the lines.
"""
