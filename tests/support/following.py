"""A replica that follows node 2, step by step: what it sends is answered by the test alone."""

from __future__ import annotations

from collections.abc import Sequence

from kraftctl.raft.effects import SendRequest
from kraftctl.raft.events import DeadlineReached, RaftEvent, ResponseReceived
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from kraftctl_protocol.metadata_topic import METADATA_TOPIC_ID
from tests.support.simulator.cluster.raft_transcript import RaftTranscript

LEADER = 2


class Following:
    """One of the static voters 1 to 4, or an observer. `now_ms` is what its steps take for the time."""

    def __init__(self, node_id: int, voters: Sequence[int] = (1, 2, 3, 4)) -> None:
        self.transcript = RaftTranscript()
        self.transcript.run("quorum-state epoch=1 leader=2")
        self.transcript.run(f"node id={node_id} voters={','.join(map(str, voters))} kraft-version=0")
        self.now_ms = 0
        self.sent: list[SendRequest] = []
        self.node = self.transcript.node
        assert "send 1 to 2@" in self.transcript.run("start")
        self._last_to = {LEADER: 1}

    def answered(self, node_id: int = LEADER, records: bytes = b"", high_watermark: int = 0) -> None:
        """The last Fetch to that node, by the leader of this epoch."""
        partition = PartitionData(
            high_watermark=high_watermark,
            current_leader=LeaderIdAndEpoch(leader_id=LEADER, leader_epoch=1),
            records=records,
        )
        topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[partition])
        self.step(ResponseReceived(self._last_to[node_id], FetchResponse(responses=[topic])))

    def lost(self, *, refused: bool = False) -> None:
        """The connection to the leader is reset, or refused."""
        self.step(ResponseReceived(self._last_to[LEADER], None, refused=refused))

    def wait(self, duration_ms: int) -> None:
        until_ms = self.now_ms + duration_ms
        while (deadline_ms := self.node.next_deadline_ms) is not None and deadline_ms <= until_ms:
            self.now_ms = max(self.now_ms, deadline_ms)
            self.step(DeadlineReached())
        self.now_ms = until_ms

    def asked(self, api_key: ApiKey = ApiKey.FETCH) -> list[int]:
        """The nodes to which such a request has left since the last call."""
        sent, self.sent = self.sent, []
        return [effect.destination_id for effect in sent if effect.api_key == api_key]

    def step(self, event: RaftEvent) -> None:
        for effect in self.node.step(event, self.now_ms, self.now_ms):
            if isinstance(effect, SendRequest):
                self.sent.append(effect)
                self._last_to[effect.destination_id] = effect.send_id
