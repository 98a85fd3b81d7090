"""The stored state of elections: the `quorum-state` file (KIP-595, KIP-853)."""

from __future__ import annotations

from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey, is_same_replica
from kraftctl.raft.value import Value

UNKNOWN_LEADER_ID = -1
NOT_VOTED = -1


class ElectionState(Value):
    """An epoch with its elected leader, if known, and the vote this replica gave in it, if any.

    `current_voters` is written to files of data version 0 only, and never read.
    """

    def __init__(
        self,
        *,
        epoch: int,
        leader_id: int = UNKNOWN_LEADER_ID,
        voted_id: int = NOT_VOTED,
        voted_directory_id: bytes = NO_DIRECTORY_ID,
        current_voters: list[int] | None = None,
        data_version: int = 0,
    ) -> None:
        self.epoch = epoch
        self.leader_id = leader_id
        self.voted_id = voted_id
        self.voted_directory_id = voted_directory_id
        self.current_voters: list[int] = [] if current_voters is None else current_voters
        self.data_version = data_version

    def has_leader(self) -> bool:
        return self.leader_id >= 0

    def voted_key(self) -> ReplicaKey | None:
        return None if self.voted_id < 0 else ReplicaKey(self.voted_id, self.voted_directory_id)

    def voted_for(self, candidate: ReplicaKey) -> bool:
        """Returns whether the vote is for `candidate`; one without directory id (data version 0) fits any."""
        vote = self.voted_key()
        return vote is not None and is_same_replica(vote, candidate)

    def __repr__(self) -> str:
        vote = self.voted_key()
        return (
            f"ElectionState(epoch={self.epoch}, leader={self.leader_id}, "
            f"voted={'none' if vote is None else vote}, data_version={self.data_version})"
        )
