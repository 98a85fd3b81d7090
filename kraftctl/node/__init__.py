"""A controller node: raft and the metadata state machine behind one `step`."""
