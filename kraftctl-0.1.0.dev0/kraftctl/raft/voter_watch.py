"""Schedules the leader's checks that all voters fetch, and remembers those of which a line said that they do
not.
"""

from __future__ import annotations

from kraftctl.raft.states import NEVER_MS


class VoterWatch:
    """The state of the checks of the node that leads `epoch` since `began_ms`.

    `silent` has the time since when each voter is silent of which a line said so, by id.
    """

    def __init__(self) -> None:
        self.check_at_ms = NEVER_MS
        self.epoch = -1
        self.began_ms = 0
        self.silent: dict[int, int] = {}

    def begin(self, epoch: int, now_ms: int, at_ms: int) -> None:
        self.epoch = epoch
        self.began_ms = now_ms
        self.check_at_ms = at_ms
        self.silent = {}

    def checked(self, silent: dict[int, int], next_ms: int) -> None:
        """Takes those that are silent now, and when to look again."""
        self.silent = silent
        self.check_at_ms = next_ms

    def end(self) -> None:
        self.check_at_ms = NEVER_MS
        self.silent = {}
