"""ACLs, SCRAM credentials and delegation tokens are altered and described here, as records of the log."""
