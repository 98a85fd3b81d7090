"""KIP-853: brokers halt on a leader without an endpoint, so what they are answered names both or neither."""

from __future__ import annotations

import random

import pytest

from kraftctl.raft.effects import RaftEffect, Respond
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import RequestReceived, Started
from kraftctl.raft.log_state import LogState
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.message import Message
from tests.support.raft_names import CLUSTER_ID, LISTENER, directory_id, endpoint, voter_node
from tests.support.wire.raft_requests import REQUESTS

LEADER, EPOCH = 1, 5


def replica(*voters: int) -> RaftNode:
    """It knows from its quorum-state who leads; where, only from the voters."""
    history = [(-1, VoterSet([voter_node(voter_id) for voter_id in voters]))] if voters else []
    node = RaftNode(
        node_id=2,
        directory_id=directory_id(2),
        cluster_id=CLUSTER_ID,
        endpoints={LISTENER: endpoint(2)},
        config=RaftConfig(),
        rng=random.Random(1),
        log=LogState(start_offset=0, end_offset=0, epochs=[], snapshots=[]),
        quorum_state=ElectionState(epoch=EPOCH, leader_id=LEADER, data_version=1),
        static_voters=VoterSet([]),
        voter_history=history,
        kraft_version_history=[(-1, 1)],
    )
    node.step(Started(), 0, 0)
    return node


def answer(node: RaftNode, request: Message, version: int) -> Message:
    event = RequestReceived(1, LISTENER, type(request).API_KEY, version, request)
    effects: list[RaftEffect] = node.step(event, 0, 0)
    return next(effect.response for effect in effects if isinstance(effect, Respond))


@pytest.mark.prevents("leader-without-endpoint")
@pytest.mark.parametrize(
    ("voters", "version", "named"),
    [
        pytest.param((), 17, -1, id="endpoint-unknown"),
        pytest.param((1, 2, 3), 17, LEADER, id="endpoint-known"),
        pytest.param((), 16, LEADER, id="without-endpoints"),
    ],
)
def test_a_fetch_names_no_leader_without_its_endpoint(
    voters: tuple[int, ...], version: int, named: int
) -> None:
    request, _ = REQUESTS["fetch"]({"epoch": str(EPOCH), "offset": "0", "version": str(version)})
    response = answer(replica(*voters), request, version)
    assert isinstance(response, FetchResponse)
    assert response.responses[0].partitions[0].current_leader.leader_id == named
    assert [node.node_id for node in response.node_endpoints] == ([LEADER] if voters else [])


@pytest.mark.prevents("leader-without-endpoint")
@pytest.mark.parametrize(
    ("voters", "version", "named"),
    [
        pytest.param((), 1, -1, id="endpoint-unknown"),
        pytest.param((1, 2, 3), 1, LEADER, id="endpoint-known"),
        pytest.param((), 0, LEADER, id="without-endpoints"),
    ],
)
def test_a_fetch_snapshot_names_no_leader_without_its_endpoint(
    voters: tuple[int, ...], version: int, named: int
) -> None:
    request, _ = REQUESTS["fetch-snapshot"]({"epoch": str(EPOCH), "id": "1-1", "version": str(version)})
    response = answer(replica(*voters), request, version)
    assert isinstance(response, FetchSnapshotResponse)
    assert response.topics[0].partitions[0].current_leader.leader_id == named
    assert [node.node_id for node in response.node_endpoints] == ([LEADER] if voters else [])
