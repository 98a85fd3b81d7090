"""This node connects to other controllers and sends them raft's requests."""
