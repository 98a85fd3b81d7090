"""In-memory view of the metadata log, changed only by replaying records."""
