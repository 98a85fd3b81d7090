"""KIP-853: UpdateFeatures reaches raft, which alone can raise kraft.version."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.state.controller_state import KRaftVersionUpgrader
from kraftctl.raft.raft_node import RaftNode

NO_LEVEL: Final = -1


class RaftKRaftVersionUpgrader(KRaftVersionUpgrader):
    """Remembers the requested level until the node appends the records of the request."""

    def __init__(self, raft: RaftNode) -> None:
        self._raft = raft
        self._level = NO_LEVEL

    def why_impossible(self, level: int) -> str | None:
        return self._raft.why_kraft_version_not_upgraded(level)

    def request(self, level: int) -> None:
        self._level = level

    def take_requested(self) -> int:
        """The level to raise kraft.version to, now; NO_LEVEL without a request."""
        level, self._level = self._level, NO_LEVEL
        return level
