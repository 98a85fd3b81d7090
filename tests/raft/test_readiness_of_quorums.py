"""What raft says to a probe: nothing in an election. The line of each state is in test_progress."""

from __future__ import annotations

from tests.support.progress_cases import ALL
from tests.support.simulator.cluster.bare_raft import BareNode, Network

POLL_SECONDS = 0.05


def why_no_progress(node: BareNode) -> str | None:
    return node.raft.why_no_progress(node.network.time.now_ms)


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
