"""This node connects to other controllers and sends them raft's requests.

`peers` sends, `connecting` races the addresses of a name, and `peer_failure_reasons` says why it failed.
"""
