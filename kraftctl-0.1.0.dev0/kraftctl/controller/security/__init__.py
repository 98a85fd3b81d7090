"""Alters and describes ACLs, SCRAM credentials and delegation tokens, as records of the log.

`acl_control`, `scram_control` and `delegation_token_control` have a kind each. Who may do what is decided in
`state/standard_authorizer.py`.
"""
