"""ACLs and the authorizer, SCRAM credentials, delegation tokens."""
