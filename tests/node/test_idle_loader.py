"""The node does not ask a loader that is idle, so nothing may be left to do then."""

from __future__ import annotations

import pytest

from kraftctl.node.metadata_loader import MetadataLoader
from kraftctl.raft.events import ResignRequested
from tests.support.simulator.cluster.lone_node import LoneNode


@pytest.fixture
def node() -> LoneNode:
    node = LoneNode()
    node.settle()
    return node


def loader_of(node: LoneNode) -> MetadataLoader:
    return node.process.node._loader


def test_the_loader_of_an_active_controller_is_idle(node: LoneNode) -> None:
    assert loader_of(node).is_idle
    assert loader_of(node).advance(node.now_ms) == []


def test_a_standby_loads(node: LoneNode) -> None:
    node.offer(ResignRequested(node.raft.epoch))
    assert not node.controller.active
    assert not loader_of(node).is_idle


@pytest.mark.parametrize(
    ("left", "value"),
    [
        pytest.param("_log", b"batches", id="log-to-replay"),
        pytest.param("_replaced", [[1, 2]], id="image-to-free"),
        pytest.param("_spent", 7, id="units-of-a-turn"),
    ],
)
def test_a_loader_that_has_something_left_is_not_idle(node: LoneNode, left: str, value: object) -> None:
    loader = loader_of(node)
    setattr(loader, left, value)
    assert not loader.is_idle
    node.run_for(10)
    node.settle()
    assert node.controller.active


def test_a_line_that_is_not_ended_is_left(node: LoneNode) -> None:
    loader = loader_of(node)
    for at_ms in (0, 5_000):
        loader._progress.line("the log", 1, 2, at_ms)
    assert not loader.is_idle
    assert len(loader.advance(6_000)) == 1
    assert loader.is_idle
