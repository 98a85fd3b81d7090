"""A running quorum is upgraded from an earlier commit of ours to this one, downgraded, and upgraded again.

One controller after the other, while topics are created: each acknowledged one is in every log. The earlier
sources run with the dependencies of this environment, from git: a shallow clone does not have them.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

import kraftctl
from kraftctl.dev.nodes import KraftctlController
from tests.support.processes.quorum import Quorum, TopicCreator, topics_known_to

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]

EARLIER = {
    "first-quorums": "8dd58cc4f846eec157cff770a702c66f2edbce87",
    "before-releases": "d157c3dc4f86844b469938d649b5712812f89319",
}
"""The first commit whose quorums may have several voters, and the last one before versions were built from
tags. A release takes the place of the second."""

TOPICS_PER_STEP = 3


def sources_of(commit: str, directory: Path) -> dict[str, str]:
    """The variables of a process that runs the sources of this commit, which are unpacked."""
    roots = ("kraftctl", "protocol")
    packed = subprocess.run(
        ["git", "archive", "--format=tar", commit, *roots], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(directory, filter="data")
    return {"PYTHONPATH": f"{directory}:{directory / 'protocol'}", "PYTHONSAFEPATH": "1"}


def restart(node: KraftctlController, variables: dict[str, str], version: str) -> None:
    assert node.stop() == 0
    node.environment = variables
    node.start()
    node.await_log(rf"Starting kraftctl {version}[: ]")


@pytest.mark.parametrize("dynamic", [pytest.param(False, id="static"), pytest.param(True, id="dynamic")])
@pytest.mark.parametrize("commit", EARLIER.values(), ids=EARLIER)
def test_there_and_back_again(tmp_path: Path, commit: str, dynamic: bool) -> None:
    earlier = sources_of(commit, tmp_path / "earlier")
    quorum = Quorum(tmp_path, dynamic=dynamic)
    for node in quorum.nodes:
        node.environment = earlier
    with quorum:
        quorum.leader()
        creator = TopicCreator(quorum)
        creator.create(TOPICS_PER_STEP)
        for variables, version in (
            ({}, kraftctl.__version__),
            (earlier, "0.1.0"),
            ({}, kraftctl.__version__),
        ):
            for node in quorum.nodes:
                restart(node, variables, version)
                creator.create(TOPICS_PER_STEP)
            quorum.await_equal_logs()
            for node in quorum.nodes:
                assert creator.acknowledged <= topics_known_to(node)
        creator.close()
        assert len(creator.acknowledged) == TOPICS_PER_STEP * 10
        assert [node.stop() for node in quorum.nodes] == [0, 0, 0]
        for node in quorum.nodes:
            assert "Traceback" not in node.log_file.read_text()
