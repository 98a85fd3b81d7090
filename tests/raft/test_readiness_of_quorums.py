"""What raft says to a probe: nothing in an election. The line of each state is in test_progress."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

from tests.record_types.image_state import attributes_of
from tests.support.progress_cases import ALL, CASES, Case
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


@pytest.mark.parametrize("name", ["own disk", "no majority"])
def test_in_the_first_seconds_it_blames_nothing(name: str) -> None:
    """No disk and no other controller: the first election may be all that it waits for."""
    network = Network()
    node, _, _ = CASES[name][0](network)
    for passed in (0.0, 0.5, 4.0):
        network.run_for(passed)
        line = why_no_progress(node)
        assert line is not None
        assert "has neither led nor followed a leader since its start" in line
        assert "Next step" not in line
    network.run_for(1.0)
    assert "Next step" in (why_no_progress(node) or "")


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


def plain(value: Any, seen: dict[int, object]) -> Any:
    """The value and all that it refers to, each object once."""
    if value is None or isinstance(value, int | float | str | bytes | Enum) or callable(value):
        return value
    if id(value) in seen:
        return "seen"
    seen[id(value)] = value
    if isinstance(value, dict):
        return [(plain(key, {}), plain(one, seen)) for key, one in value.items()]
    if isinstance(value, list | tuple | set | frozenset | deque):
        return [plain(one, seen) for one in value]
    if not type(value).__module__.startswith("kraftctl.raft"):
        return repr(value)
    return [(name, plain(getattr(value, name), seen)) for name in attributes_of(value)]


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.__name__) for name in CASES for case in CASES[name]]
)
def test_reading_changes_nothing(case: Callable[[Network], Case]) -> None:
    """Also before the first request, and for an observer, which knows addresses alone."""
    network = Network()
    node, _, seconds = case(network)
    for passed in (0.0, seconds):
        network.run_for(passed)
        before = plain(node.raft._core.peers, {}), plain(node.raft._core.progress, {})
        node.raft.figures(network.time.now_ms)
        node.raft.why_no_progress(network.time.now_ms + 60_000)
        node.raft.why_no_vote()
        assert (plain(node.raft._core.peers, {}), plain(node.raft._core.progress, {})) == before
