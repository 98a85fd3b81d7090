"""What raft says to a probe: the reason of the log in each state of a quorum, and nothing in an election."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl.raft.progress_states import ELECTION, STANDING, STATES
from tests.raft.test_progress import is_line_of
from tests.support.progress_cases import ALL, CASES, Case
from tests.support.simulator.cluster.bare_raft import BareNode, Network

POLL_SECONDS = 0.05


def cases_of(kind: str) -> list[object]:
    return [
        pytest.param(state.name, case, id=case.__name__)
        for state in STATES
        if state.kind == kind
        for case in CASES[state.name]
    ]


def why_no_progress(node: BareNode) -> str | None:
    return node.raft.why_no_progress(node.network.time.now_ms)


@pytest.mark.parametrize(("name", "case"), cases_of(ELECTION))
def test_a_probe_has_the_line_of_the_log(name: str, case: Callable[[Network], Case]) -> None:
    network = Network()
    node, names, seconds = case(network)
    network.run_for(seconds)
    line = why_no_progress(node)
    assert line is not None
    assert is_line_of(name).match(line), line
    assert all(each in line for each in names), line


@pytest.mark.parametrize(("name", "case"), cases_of(STANDING))
def test_an_observer_has_its_line(name: str, case: Callable[[Network], Case]) -> None:
    network = Network()
    node, _, seconds = case(network)
    network.run_for(seconds)
    line = node.raft.why_no_vote()
    assert line is not None
    assert is_line_of(name).match(line), line


def test_it_is_not_ready_before_there_was_a_leader() -> None:
    network = Network()
    node = BareNode(network, 1, ALL).start()
    network.run_for(POLL_SECONDS)
    assert why_no_progress(node) is not None
    BareNode(network, 2, ALL).start()
    network.run_for(6)
    assert why_no_progress(node) is None
    assert node.raft.why_no_vote() is None


def test_a_clean_election_makes_nobody_unready() -> None:
    """The leader stops five times, and starts again."""
    network = Network()
    nodes = {node_id: BareNode(network, node_id, ALL).start() for node_id in ALL}
    network.run_for(6)
    for _ in range(5):
        (leader,) = [node for node in nodes.values() if node.raft.is_leader and node.halted is None]
        leader.stop()
        others = [node for node in nodes.values() if node is not leader]
        for _ in range(int(4 / POLL_SECONDS)):
            network.run_for(POLL_SECONDS)
            assert [why_no_progress(each) for each in others] == [None, None]
        nodes[leader.node_id] = BareNode(network, leader.node_id, ALL).start()
        network.run_for(6)
        assert why_no_progress(nodes[leader.node_id]) is None


def test_a_lost_majority_is_named_within_ten_seconds() -> None:
    network = Network()
    nodes = [BareNode(network, node_id, ALL).start() for node_id in ALL]
    network.run_for(6)
    for survivor in nodes:
        if survivor.raft.is_leader:
            break
    for each in nodes:
        if each is not survivor:
            each.stop()
    network.run_for(9)
    line = why_no_progress(survivor)
    assert line is not None
    assert "1 of 3 voters can be reached" in line
