"""Nodes whose log.dirs were reordered do not start; with the key that is named, nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from tests.storage.log_dirs_cases import read_tree
from tests.support.processes.quorum import Quorum, TopicCreator, topics_known_to

pytestmark = pytest.mark.slow


class QuorumOfDirectories(Quorum):
    """Each node has a second directory, which `swap` puts first."""

    def __init__(self, directory: Path, *, size: int, dynamic: bool) -> None:
        super().__init__(directory, size=size, dynamic=dynamic)
        self.nodes = [_WithTwo.of(node) for node in self.nodes]


class _WithTwo(KraftctlController):
    first = "data"

    @classmethod
    def of(cls, node: KraftctlController) -> _WithTwo:
        node.__class__ = cls
        assert isinstance(node, _WithTwo)
        return node

    def log_directories(self) -> list[Path]:
        other = self.directory / "more"
        both = [self.log_directory, other]
        return both if self.first == "data" else both[::-1]


def swap(nodes: Sequence[KraftctlController]) -> None:
    for node in nodes:
        assert isinstance(node, _WithTwo)
        node.first = "more"


def refusal(node: KraftctlController) -> str:
    """What it prints when it does not start; nothing in its directories has changed."""
    node.write_configuration()
    before = {
        path: content for path, content in read_tree(node.directory).items() if not path.endswith(".log")
    }
    node.start(wait=False)
    assert node.process is not None
    assert node.process.wait(30.0) == 1
    after = {
        path: content for path, content in read_tree(node.directory).items() if not path.endswith(".log")
    }
    assert after == before
    return node.process.tail()


@pytest.mark.prevents("reordered-directories")
@pytest.mark.parametrize(
    ("size", "dynamic", "swapped_count"),
    [
        pytest.param(1, False, 1, id="alone"),
        pytest.param(1, True, 1, id="alone-dynamic"),
        pytest.param(3, False, 2, id="two-of-three", marks=pytest.mark.long),
        pytest.param(3, True, 1, id="one-of-three-dynamic", marks=pytest.mark.long),
    ],
)
def test_reordered_directories(tmp_path: Path, size: int, dynamic: bool, swapped_count: int) -> None:
    with QuorumOfDirectories(tmp_path, size=size, dynamic=dynamic) as quorum:
        creator = TopicCreator(quorum)
        creator.create(3)
        creator.close()
        for node in quorum.nodes:
            node.stop()
        swapped = quorum.nodes[:swapped_count]
        swap(swapped)
        for node in swapped:
            said = refusal(node)
            assert f"the metadata log of this node is in {node.log_directory} (it has" in said
            assert f"Next step: set metadata.log.dir={node.log_directory}." in said
            node.properties["metadata.log.dir"] = str(node.log_directory)
        for node in quorum.nodes:
            node.start(wait=False)
        again = TopicCreator(quorum, prefix="again-")
        again.create(1)
        again.close()
        for node in quorum.nodes:
            await_result(partial(_knows, node, creator.acknowledged), f"{node.name} has every topic", 20.0)


def _knows(node: KraftctlController, topics: set[str]) -> bool:
    return topics <= topics_known_to(node)
