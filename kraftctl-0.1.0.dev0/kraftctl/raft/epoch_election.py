"""Counts the votes of an election or pre-election, until it is won or cannot be won (KIP-595, KIP-996)."""

from __future__ import annotations

from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet


class EpochElection:
    """The votes of the voters at its start; `None` for one that has not responded yet."""

    def __init__(self, voters: VoterSet, own_id: int) -> None:
        self.keys: dict[int, ReplicaKey] = {node.key.id: node.key for node in voters.nodes.values()}
        self.votes: dict[int, bool | None] = dict.fromkeys(self.keys)
        if own_id in self.votes:
            self.votes[own_id] = True

    def record(self, voter_id: int, granted: bool) -> None:
        assert voter_id in self.votes, f"{voter_id} has no vote in this election"
        self.votes[voter_id] = granted

    def granting_voter_ids(self) -> list[int]:
        return sorted(voter_id for voter_id, vote in self.votes.items() if vote is True)

    def unrecorded_voter_ids(self) -> list[int]:
        return sorted(voter_id for voter_id, vote in self.votes.items() if vote is None)

    def is_unanswered(self) -> bool:
        """Returns whether no other voter has responded."""
        return len(self.unrecorded_voter_ids()) >= len(self.votes) - 1

    def majority(self) -> int:
        return len(self.votes) // 2 + 1

    def is_won(self) -> bool:
        return len(self.granting_voter_ids()) >= self.majority()

    def is_lost(self) -> bool:
        """Returns whether it would lose even if all remaining voters granted their vote."""
        return len(self.granting_voter_ids()) + len(self.unrecorded_voter_ids()) < self.majority()
