"""KIP-853: the one change of voters that a leader has under way."""

from __future__ import annotations

from typing import Final

from kraftctl.raft.voter_set import VoterNode
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from kraftctl_protocol.message import Message

NOT_WRITTEN: Final = -1


class PendingChange:
    """`offset` is that of the KRaftVoters record; `added` is None when a voter goes."""

    def __init__(self, request_id: int, epoch: int, deadline_ms: int, *, ack_when_committed: bool) -> None:
        self.request_id = request_id
        self.epoch = epoch
        self.deadline_ms = deadline_ms
        self.ack_when_committed = ack_when_committed
        self.added: VoterNode | None = None
        self.is_removal = False
        self.send_id = 0
        self.offset = NOT_WRITTEN

    def response(self, error: Errors, reason: str | None) -> Message:
        if self.is_removal:
            return RemoveRaftVoterResponse(error_code=error, error_message=reason)
        return AddRaftVoterResponse(error_code=error, error_message=reason)
