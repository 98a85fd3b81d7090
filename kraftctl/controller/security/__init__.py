"""ACLs and the authorizer, SCRAM credentials, delegation tokens.

`standard_authorizer` decides who may do what, `authorizer_log` has a line for each decision, and
`node_principals` binds the ids of nodes to principals.
"""
