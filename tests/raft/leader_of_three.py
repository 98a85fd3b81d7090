"""A leader of voters 1, 2 and 3, whose fetches a test sends: for the order of responses."""

from __future__ import annotations

import re

from kraftctl.raft.events import ResponseReceived
from kraftctl_protocol.generated.vote_response import PartitionData, TopicData, VoteResponse
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from tests.support.simulator.cluster.raft_transcript import RaftTranscript


class LeaderOfThree:
    """Node 1 leads voters 1, 2 and 3; its LeaderChange at offset 0 is committed, and voter 3 knows that."""

    def __init__(self) -> None:
        self.transcript = RaftTranscript()
        self.run("node id=1 voters=1,2,3 kraft-version=0")
        self.run("start")
        pre_vote = self.run("sleep 2000")
        vote = self._grant(pre_vote)
        assert "became leader of 1 at 0" in self._grant(vote)
        self.run("flushed 1")
        assert "high watermark 1" in self.fetch(1, replica=2, offset=1, high_watermark=-1)

    def run(self, command: str) -> str:
        return self.transcript.run(command)

    def fetch(self, request_id: int, *, replica: int, offset: int, high_watermark: int) -> str:
        return self.run(f"fetch request={request_id} replica={replica} offset={offset} hw={high_watermark}")

    def _grant(self, asked: str) -> str:
        """Voter 2 grants the (pre-)vote that it is asked for."""
        found = re.search(r"send (\d+) to 2@.*VoteRequest\(.*replica_epoch=(\d+)|send (\d+) to 2@", asked)
        assert found is not None, asked
        partition = PartitionData(leader_id=-1, leader_epoch=self.transcript.node.epoch, vote_granted=True)
        response = VoteResponse(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])
        self.transcript.lines.clear()
        with self.transcript.files.attach():
            self.transcript.replica.step(ResponseReceived(int(found[1] or found[3]), response))
        return "\n".join(self.transcript.lines)


def answered(lines: str) -> list[int]:
    """The ids of the requests that are answered, in order."""
    return [int(request_id) for request_id in re.findall(r"^respond (\d+) ", lines, re.MULTILINE)]
