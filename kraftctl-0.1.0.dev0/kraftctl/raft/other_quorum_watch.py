"""Schedules the leader's checks that its bootstrap servers follow it, and remembers which it has asked."""

from __future__ import annotations

from kraftctl.raft.states import NEVER_MS


class OtherQuorumWatch:
    """The state of the checks. `asked`: id, host and port of bootstrap servers by send id. `doubts`: a
    response was unexpected.
    """

    def __init__(self) -> None:
        self.look_at_ms = NEVER_MS
        self.epoch = -1
        self.asked: dict[int, tuple[int, str, int]] = {}
        self.doubts = False

    def begin(self, epoch: int, at_ms: int) -> None:
        """Starts the checks of a node that leads `epoch`."""
        self.epoch = epoch
        self.look_at_ms = at_ms
        self.asked = {}
        self.doubts = False

    def look_at(self, at_ms: int) -> None:
        self.look_at_ms = at_ms

    def end(self) -> None:
        self.look_at_ms = NEVER_MS

    def ask(self, send_id: int, peer_id: int, host: str, port: int) -> None:
        self.asked[send_id] = (peer_id, host, port)

    def doubt(self) -> None:
        self.doubts = True

    def take(self, send_id: int) -> tuple[int, str, int] | None:
        """Returns the server that this was sent to; only once."""
        return self.asked.pop(send_id, None) if self.asked else None
