"""The leader says which voters do not fetch: after half a minute, then rarely, and when they are back."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest

from kraftctl.raft.voter_set import VoterSet
from tests.support.raft_names import endpoint, voter_node
from tests.support.simulator.cluster.bare_raft import Address, BareNode, Network

FIVE = (1, 2, 3, 4, 5)
Voters = VoterSet | dict[int, Address]
SILENT_SECONDS = 30


def static(*node_ids: int) -> dict[int, Address]:
    return {node_id: endpoint(node_id) for node_id in node_ids}


def dynamic(*node_ids: int) -> VoterSet:
    return VoterSet([voter_node(node_id) for node_id in node_ids])


KINDS = [pytest.param(static, id="static"), pytest.param(dynamic, id="dynamic")]


class Quorum:
    """Its `nodes` by id: `voters` are configured, and those that are not `missing` run and have a leader."""

    def __init__(self, voters: Voters, node_ids: tuple[int, ...], missing: tuple[int, ...] = ()) -> None:
        self.network = Network()
        self.voters = voters
        self.nodes: dict[int, BareNode] = {}
        for node_id in node_ids:
            if node_id not in missing:
                self.start(node_id)
        self.network.run_for(6)

    def start(self, node_id: int) -> None:
        self.nodes[node_id] = BareNode(self.network, node_id, self.voters).start()

    @property
    def leader(self) -> BareNode:
        (leader,) = [node for node in self.nodes.values() if node.raft.is_leader and node.halted is None]
        return leader

    def followers(self) -> list[int]:
        return [node_id for node_id, node in self.nodes.items() if node is not self.leader]

    def lines(self, node: BareNode, node_id: int, level: str = "WARN") -> list[int]:
        """The seconds of its lines about this voter."""
        pattern = re.compile(rf"Voter {node_id}\b.* fetch")
        return [line.ms // 1000 for line in node.lines if line.level == level and pattern.match(line.text)]

    def said(self) -> list[str]:
        return [line for node in self.network.nodes for line in node.warnings()]


@pytest.mark.parametrize("voters", KINDS)
@pytest.mark.parametrize("count", [1, 2])
def test_followers_that_stop(voters: Callable[..., Voters], count: int) -> None:
    quorum = Quorum(voters(*FIVE), FIVE)
    stopped = quorum.followers()[:count]
    for node_id in stopped:
        quorum.nodes[node_id].stop()
    quorum.network.run_for(SILENT_SECONDS - 2)
    assert quorum.said() == []
    quorum.network.run_for(SILENT_SECONDS)
    for node_id in stopped:
        assert len(quorum.lines(quorum.leader, node_id)) == 1
    (line, *_) = quorum.leader.warnings()
    assert f"{5 - count} of 5 voters take part, 3 are needed" in line
    assert "its last Fetch was from offset" in line
    assert "connection refused" in line
    assert len(quorum.said()) == count, "the followers have nothing to say"


@pytest.mark.parametrize("voters", KINDS)
def test_a_follower_that_never_started(voters: Callable[..., Voters]) -> None:
    quorum = Quorum(voters(1, 2, 3), (1, 2, 3), missing=(3,))
    quorum.network.run_for(SILENT_SECONDS - 8)
    assert quorum.said() == []
    quorum.network.run_for(10)
    (line,) = quorum.said()
    assert re.search(r"Voter 3\b.* at host-3:9093 .* for 30 s, not once since epoch \d+ began", line)


@pytest.mark.parametrize("voters", KINDS)
def test_it_is_said_rarely_and_its_end_once(voters: Callable[..., Voters]) -> None:
    quorum = Quorum(voters(1, 2, 3), (1, 2, 3), missing=(3,))
    quorum.network.run_for(600)
    times = quorum.lines(quorum.leader, 3)
    assert [round((later - earlier) / 60) for earlier, later in pairwise(times)] == [1, 2, 4]
    quorum.start(3)
    quorum.network.run_for(60)
    assert quorum.lines(quorum.leader, 3) == times
    assert len(quorum.lines(quorum.leader, 3, "INFO")) == 1
    quorum.nodes[3].stop()
    quorum.network.run_for(SILENT_SECONDS + 2)
    assert len(quorum.lines(quorum.leader, 3)) == len(times) + 1, "a new silence is said again"


@pytest.mark.parametrize("voters", KINDS)
def test_another_leader_says_it_when_leadership_is_lost_meanwhile(voters: Callable[..., Voters]) -> None:
    quorum = Quorum(voters(*FIVE), FIVE, missing=(5,))
    former = quorum.leader
    quorum.network.run_for(60)
    assert len(quorum.lines(former, 5)) == 1
    former.stop()
    quorum.network.run_for(60)
    leader = quorum.leader
    assert len(quorum.lines(leader, 5)) == 1
    assert len(quorum.lines(leader, former.node_id)) == 1
    quorum.start(5)
    quorum.network.run_for(10)
    assert (len(quorum.lines(leader, 5, "INFO")), quorum.lines(former, 5, "INFO")) == (1, [])


@pytest.mark.parametrize("voters", KINDS)
def test_an_observer_is_not_counted(voters: Callable[..., Voters]) -> None:
    quorum = Quorum(voters(1, 2, 3), (1, 2, 3, 4))
    assert quorum.nodes[4].raft.leader_id == quorum.leader.node_id
    quorum.nodes[4].stop()
    quorum.network.run_for(3 * SILENT_SECONDS)
    assert [line for line in quorum.said() if "Voter" in line] == []


@pytest.mark.parametrize("voters", KINDS)
def test_the_only_voter_and_restarts_of_others_are_silent(voters: Callable[..., Voters]) -> None:
    alone = Quorum(voters(1), (1,))
    alone.network.run_for(100)
    quorum = Quorum(voters(1, 2, 3), (1, 2, 3))
    for _ in range(2):
        for node_id in (1, 2, 3):
            quorum.nodes[node_id].stop()
            quorum.network.run_for(SILENT_SECONDS - 5)
            quorum.start(node_id)
            quorum.network.run_for(10)
    assert [line for line in [*alone.said(), *quorum.said()] if "Voter" in line] == []


def test_a_voter_that_is_reached_again_is_named_once() -> None:
    """Its address was wrong in the name server, so it found the leader, and the leader did not find it."""
    quorum = Quorum(static(1, 2, 3), (1, 2, 3), missing=(3,))
    BareNode(quorum.network, 3, quorum.voters, address=endpoint(9)).start()
    quorum.network.run_for(90)
    assert len(quorum.lines(quorum.leader, 3)) == 1
    quorum.network.listening[endpoint(3)] = quorum.network.listening[endpoint(9)]
    quorum.network.run_for(90)
    answers = [
        line for line in quorum.leader.infos() if line.startswith("Controller 3 at host-3:9093 answers")
    ]
    assert len(answers) == 1
    assert len(quorum.lines(quorum.leader, 3)) <= 2
