"""A static voter at a wrong address is named while there is a leader: twice seen, then ever more rarely."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable

import pytest

from kraftctl.raft.events import ResponseReceived
from kraftctl.server.peers.peers import PeerConnections
from kraftctl.server.peers.voter_addresses import VoterAddresses
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.generated.vote_response import PartitionData, TopicData, VoteResponse
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from tests.support.simulator.cluster.bare_raft import CLUSTER_ID, BareNode, Network, directory_id, endpoint
from tests.support.wire.scripted_node import ScriptedNode, Versions

STATIC = {1: endpoint(1), 2: endpoint(2), 3: endpoint(3)}
LOOK_MS = 60_000


def voted(error: Errors = Errors.NONE, top: Errors = Errors.NONE) -> VoteResponse:
    if top != Errors.NONE:
        return VoteResponse(error_code=top)
    partition = PartitionData(partition_index=0, error_code=error)
    return VoteResponse(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])


def follower() -> BareNode:
    network = Network()
    nodes = [BareNode(network, node_id, STATIC).start() for node_id in STATIC]
    network.run_for(6)
    return next(node for node in nodes if not node.raft.is_leader)


class Looks:
    """Looks of a follower whose file has voter 2 at `place`, and the lines of each."""

    def __init__(self, caplog: pytest.LogCaptureFixture, node: BareNode, place: tuple[str, int]) -> None:
        caplog.set_level(logging.INFO, "kraftctl.raft")
        self._caplog = caplog
        self.node = node
        self.place = place
        self.now_ms = 0

    def lines(self, count: int) -> list[str]:
        async def look() -> None:
            meta = MetaProperties(CLUSTER_ID, self.node.node_id, directory_id(self.node.node_id))
            others = {9: self.place}
            watch = VoterAddresses(others, meta, self.node.raft, new_peers, lambda: self.now_ms)
            for _ in range(count):
                await watch.look()
                self.now_ms += LOOK_MS
            watch.stop()

        asyncio.run(look())
        found = [f"{each.levelname} {each.getMessage()}" for each in self._caplog.records]
        self._caplog.clear()
        return [line for line in found if "ontroller 9" in line]


def new_peers(offer: Callable[[ResponseReceived], None]) -> PeerConnections:
    return PeerConnections(client_id="raft-client-1", request_timeout_ms=500, backoff_ms=10, offer=offer)


WRONG = [
    pytest.param(
        voted(Errors.INVALID_VOTER_KEY),
        r"WARNING The address of controller 9 at {place} is that of another controller, .*Next step: correct",
        id="another-id",
    ),
    pytest.param(
        voted(top=Errors.INCONSISTENT_CLUSTER_ID),
        r"WARNING Controller 9 at {place} belongs to another cluster, and .*Next step: correct",
        id="another-cluster",
    ),
    pytest.param(
        None,
        r"WARNING Controller 9 at {place}, as controller.quorum.voters has it, is not reached from controller"
        r" .*: it closes the connection without an answer; there is a leader, .*Next step: see why",
        id="closes",
    ),
]


@pytest.mark.parametrize(("answer", "text"), WRONG)
def test_what_is_wrong_is_said_at_the_second_look_and_then_rarely(
    caplog: pytest.LogCaptureFixture, answer: VoteResponse | None, text: str
) -> None:
    with ScriptedNode({VoteRequest: lambda _: answer}) as there:
        looks = Looks(caplog, follower(), ("127.0.0.1", there.port))
        lines = looks.lines(1)
        assert lines == []
        lines = looks.lines(12)
    assert len(lines) == 4, "at 1, 2, 4 and 8 minutes"
    assert re.match(text.format(place=f"127.0.0.1:{there.port}"), lines[0]), lines[0]
    (request, *_) = there.requests
    assert isinstance(request, VoteRequest)
    partition = request.topics[0].partitions[0]
    assert (request.voter_id, partition.pre_vote, partition.last_offset) == (9, True, 0)


def test_a_refused_connection(caplog: pytest.LogCaptureFixture) -> None:
    (line, *_) = Looks(caplog, follower(), ("127.0.0.1", 1)).lines(2)
    assert ": connection refused; there is a leader" in line
    assert "start the controllers that refuse connections, or correct their port" in line


def test_it_is_silent_where_all_is_well(caplog: pytest.LogCaptureFixture) -> None:
    """Also with a release that has no pre-vote."""
    all_versions: list[Versions] = [{}, {VoteRequest: (0, 1)}]
    for versions in all_versions:
        with ScriptedNode({VoteRequest: lambda _: voted()}, versions) as there:
            assert Looks(caplog, follower(), ("127.0.0.1", there.port)).lines(3) == []


def test_it_is_silent_without_a_leader(caplog: pytest.LogCaptureFixture) -> None:
    """Then raft itself names what is not reached."""
    alone = BareNode(Network(), 1, STATIC).start()
    assert Looks(caplog, alone, ("127.0.0.1", 1)).lines(3) == []


def test_its_end_is_said(caplog: pytest.LogCaptureFixture) -> None:
    answers = [voted(Errors.INVALID_VOTER_KEY)] * 2 + [voted()] * 2
    with ScriptedNode({VoteRequest: lambda _: answers.pop(0)}) as there:
        lines = Looks(caplog, follower(), ("127.0.0.1", there.port)).lines(4)
    assert [line.split()[0] for line in lines] == ["WARNING", "INFO"]
    assert lines[1].endswith("Controller 9 is where controller.quorum.voters has it again")


def test_a_real_voter_grants_nothing_and_changes_nothing() -> None:
    """The question is answered by raft itself: a voter that follows stays as it is."""
    network = Network()
    nodes = [BareNode(network, node_id, STATIC).start() for node_id in STATIC]
    network.run_for(6)
    before = [(node.raft.epoch, node.raft.leader_id, node.raft.state_name) for node in nodes]
    followers = [node for node in nodes if not node.raft.is_leader]
    meta = MetaProperties(CLUSTER_ID, followers[0].node_id, directory_id(followers[0].node_id))

    async def request() -> VoteRequest:
        watch = VoterAddresses(STATIC, meta, followers[0].raft, new_peers, lambda: 0)
        watch.stop()
        return watch._pre_vote(followers[1].node_id, followers[0].raft.epoch)

    answers: list[object] = []
    followers[1].receive(asyncio.run(request()), answers.append)
    network.run_for(3)
    (answer,) = answers
    assert isinstance(answer, VoteResponse)
    assert answer.topics[0].partitions[0].error_code == Errors.NONE
    assert not answer.topics[0].partitions[0].vote_granted
    assert [(node.raft.epoch, node.raft.leader_id, node.raft.state_name) for node in nodes] == before
