"""Checks that static voters are at the addresses that controller.quorum.voters of this node has for them.

A follower sends requests to its leader alone, and a leader to no voter: a wrong address of another one shows
in the next election. So each voter is asked now and then for a pre-vote that it cannot give (KIP-996): that
changes nothing, and is for one voter alone. In a dynamic quorum voters report their own addresses.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from kraftctl.raft.effects import SendRequest
from kraftctl.raft.events import ResponseReceived
from kraftctl.raft.peer_failures import NEXT_STEPS
from kraftctl.raft.progress_states import OTHER_CLUSTER, OTHER_ID
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.spoken_reasons import SpokenReasons
from kraftctl.server.peers.peers import PeerConnections
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.vote_request import PartitionData, TopicData, VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.metadata_topic import METADATA_PARTITION, METADATA_TOPIC, is_for_metadata_log
from kraftctl_protocol.uuids import ZERO_UUID

logger = logging.getLogger("kraftctl.raft")

LOOK_EVERY_SECONDS: Final = 60.0

LASTS_MS: Final = 30_000
"""A problem is logged at the second check: a voter that restarts is gone for seconds."""


class VoterAddresses:
    """Checks from a minute after it was made until `stop`."""

    def __init__(
        self,
        voters: dict[int, tuple[str, int]],
        meta: MetaProperties,
        raft: RaftNode,
        new_peers: Callable[[Callable[[ResponseReceived], None]], PeerConnections],
        now_ms: Callable[[], int],
    ) -> None:
        """Takes the `voters` of controller.quorum.voters; `new_peers` makes connections for one check."""
        assert meta.node_id is not None
        assert meta.directory_id is not None
        assert meta.cluster_id is not None
        self._own = ReplicaKey(meta.node_id, meta.directory_id)
        self._cluster_id = meta.cluster_id
        self._raft = raft
        self._new_peers = new_peers
        self._now_ms = now_ms
        self._reasons = SpokenReasons()
        self._said: dict[int, str] = {}
        """The reason of the last line, by voter."""
        self._others = {voter_id: place for voter_id, place in voters.items() if voter_id != self._own.id}
        self._running: asyncio.Task[None] | None = None
        if self._own.id in voters and self._others:
            self._running = asyncio.ensure_future(self._run())

    def stop(self) -> None:
        if self._running is not None:
            self._running.cancel()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Asks all other voters once, and logs what is new; without a leader raft does that."""
        raft = self._raft
        if raft.leader_id < 0 or raft.kraft_version > 0:
            return
        answers = await self._answers(raft.epoch)
        for voter_id, answer in answers.items():
            host, port = self._others[voter_id]
            wrong = what_is_wrong(answer, ReplicaKey(voter_id), f"{host}:{port}", self._own, self._cluster_id)
            self._say(voter_id, wrong)

    async def _answers(self, epoch: int) -> dict[int, ResponseReceived]:
        answers: dict[int, ResponseReceived] = {}
        all_answered = asyncio.Event()

        def take(event: ResponseReceived) -> None:
            answers[event.send_id] = event
            if len(answers) == len(self._others):
                all_answered.set()

        peers = self._new_peers(take)
        try:
            for voter_id, (host, port) in self._others.items():
                request = self._pre_vote(voter_id, epoch)
                peers.send(SendRequest(voter_id, voter_id, host, port, VoteRequest.API_KEY, request))
            await all_answered.wait()
        finally:
            await peers.stop()
        return answers

    def _pre_vote(self, voter_id: int, epoch: int) -> VoteRequest:
        """Makes a request with an empty log: a voter that grants it loses nothing, and the vote is not
        counted.
        """
        partition = PartitionData(
            partition_index=METADATA_PARTITION,
            replica_epoch=epoch,
            replica_id=self._own.id,
            replica_directory_id=self._own.directory_id,
            voter_directory_id=ZERO_UUID,
            last_offset_epoch=0,
            last_offset=0,
            pre_vote=True,
        )
        topic = TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
        return VoteRequest(cluster_id=self._cluster_id, voter_id=voter_id, topics=[topic])

    def _say(self, voter_id: int, wrong: str | None) -> None:
        said = self._said.get(voter_id)
        if wrong is None:
            if said is not None:
                del self._said[voter_id]
                self._reasons.end(said)
                logger.info("Controller %d is where controller.quorum.voters has it again", voter_id)
        elif self._reasons.is_due(wrong, self._now_ms(), lasts_ms=LASTS_MS):
            self._said[voter_id] = wrong
            logger.warning("%s", wrong)


def what_is_wrong(
    answer: ResponseReceived, voter: ReplicaKey, address: str, own: ReplicaKey, cluster_id: str
) -> str | None:
    """Returns a line with the next step; None where the voter has responded, or its release has no such
    response.
    """
    fields = {
        "peer": f"controller {voter.id} at {address}",
        "own": str(own),
        "id": str(voter.id),
        "here": cluster_id,
    }
    response = answer.response
    if response is None:
        return _unreached(answer, f"{voter.id} at {address}", own)
    if not isinstance(response, VoteResponse):
        return None
    if response.error_code == Errors.INCONSISTENT_CLUSTER_ID:
        fields |= {"peer": f"Controller {voter.id} at {address}", "there": "another cluster"}
        return OTHER_CLUSTER.line(fields)
    is_usable = response.error_code == Errors.NONE and is_for_metadata_log(response)
    if is_usable and response.topics[0].partitions[0].error_code == Errors.INVALID_VOTER_KEY:
        return OTHER_ID.line(fields | {"there": "another controller"})
    return None


def _unreached(answer: ResponseReceived, peer: str, own: ReplicaKey) -> str | None:
    if answer.failure is None:
        return None
    return (
        f"Controller {peer}, as controller.quorum.voters has it, is not reached from controller"
        f" {own}: {answer.failure.text}; there is a leader, and in the next election this voter may be"
        f" missing. Next step: {NEXT_STEPS[answer.failure.kind]}"
    )
