"""The metadata state machine: requests in, records and responses out."""
