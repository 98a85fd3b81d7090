"""KRaft consensus without IO (KIP-595, KIP-630, KIP-853): `RaftNode.step(event) -> effects`."""
