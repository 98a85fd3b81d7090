"""Log lines, the audit log and the authorizer's log go to files and outputs that may be slow or full."""
