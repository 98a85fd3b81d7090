"""KRaft consensus without IO (KIP-595, KIP-630, KIP-853): `RaftNode.step(event) -> effects`.

`events` and `effects` list what can happen to raft and what it asks for. `request_handlers` names the
handler of each request; `handle_vote` decides who gets a vote. `timers` and `early_elections` decide when
an election begins, `quorum_state` holds the legal transitions, and `append` how a record becomes durable
and committed. `peer_requests` decides what is sent to other controllers. `progress_states` says why nothing
moves.
"""
