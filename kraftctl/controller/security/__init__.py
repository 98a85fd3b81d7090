"""Alters and describes ACLs, SCRAM credentials and delegation tokens, as records of the log."""
