"""The voters and kraft.version in force, uncommitted ones included, and their source (KIP-853)."""

from __future__ import annotations

from bisect import bisect_left

from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet

STATIC_VOTERS_OFFSET = -2
"""Static voters have this offset: no control record defines them, but `controller.quorum.voters`."""

BOOTSTRAP_VOTERS_OFFSET = -1
"""The voters of the 0-0 checkpoint have this offset: the last one that it contains."""


class VoterHistory:
    """The history. A voter set is in force from its append on, not from its commit; truncation restores
    the former.
    """

    def __init__(
        self,
        static_voters: VoterSet,
        voters: list[tuple[int, VoterSet]],
        kraft_versions: list[tuple[int, int]],
        *,
        begins_at: int = 0,
    ) -> None:
        """Takes what a snapshot that ends before `begins_at` contains, and what the log has from there on."""
        self._has_first = begins_at == 0
        self.static_voters = static_voters
        self.voters = sorted(voters, key=_offset_of_voters)
        self.kraft_versions = sorted(kraft_versions)
        self.current: VoterSet = self.voters[-1][1] if self.voters else static_voters

    def last_offset(self) -> int:
        """Returns the offset of the control record that defines the current voters."""
        return self.voters[-1][0] if self.voters else STATIC_VOTERS_OFFSET

    def was_voter(self, key: ReplicaKey) -> bool:
        """Returns whether it is a voter, or was one in a voter set that is still remembered."""
        return self.current.is_voter(key) or any(voters.is_voter(key) for _, voters in self.voters)

    def is_whole(self) -> bool:
        """Returns whether `was_voter` knows all voters that there ever were.

        Static voters are all, as long as no control record replaces them: they are in a file.
        """
        return self._has_first or not self.voters

    def kraft_version(self) -> int:
        return self.kraft_versions[-1][1] if self.kraft_versions else 0

    def kraft_version_at(self, offset: int) -> int:
        """Returns the level in force for a snapshot that ends before `offset` (exclusive)."""
        for version_offset, version in reversed(self.kraft_versions):
            if version_offset < offset:
                return version
        return 0

    def add_voters(self, offset: int, voters: VoterSet) -> None:
        assert offset > self.last_offset()
        self.voters.append((offset, voters))
        self.current = voters

    def add_kraft_version(self, offset: int, kraft_version: int) -> None:
        self.kraft_versions.append((offset, kraft_version))

    def truncate_to(self, end_offset: int) -> None:
        while self.voters and self.voters[-1][0] >= end_offset:
            self.voters.pop()
        while self.kraft_versions and self.kraft_versions[-1][0] >= end_offset:
            self.kraft_versions.pop()
        self.current = self.voters[-1][1] if self.voters else self.static_voters

    def start_over(self, end_offset: int, voters: VoterSet | None, kraft_version: int) -> None:
        """Keeps only what a snapshot that ends before `end_offset` (exclusive) contains."""
        self._has_first = False
        self.voters = [] if voters is None else [(end_offset - 1, voters)]
        self.kraft_versions = [] if kraft_version == 0 else [(end_offset - 1, kraft_version)]
        self.current = self.static_voters if voters is None else voters

    def start_at(self, start_offset: int) -> None:
        """Forgets what was replaced before `start_offset`, where the log and all snapshots begin.

        What is in force there stays, whatever its offset. A restart knows no more.
        """
        voter_offsets = [offset for offset, _ in self.voters]
        forgotten_count = _replaced_count(voter_offsets, start_offset)
        self._has_first = self._has_first and not forgotten_count
        del self.voters[:forgotten_count]
        version_offsets = [offset for offset, _ in self.kraft_versions]
        del self.kraft_versions[: _replaced_count(version_offsets, start_offset)]

    def voters_at(self, offset: int) -> VoterSet:
        """Returns the voters in force for a snapshot that ends before `offset` (exclusive)."""
        for voters_offset, voters in reversed(self.voters):
            if voters_offset < offset:
                return voters
        return self.static_voters


def _replaced_count(offsets: list[int], start_offset: int) -> int:
    """Returns how many of the rising `offsets` are followed by another one below `start_offset`."""
    return max(0, bisect_left(offsets, start_offset) - 1)


def _offset_of_voters(entry: tuple[int, VoterSet]) -> int:
    return entry[0]
