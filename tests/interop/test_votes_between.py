"""Kafka's controller votes on a directory of kraftctl, and a supervisor deletes quorum-state after that.

A bare vote appends nothing: when quorum-state is gone, no file says in which epoch it was given. That another
controller was there at all is seen from the file that it deletes when it opens the log (docs/adr/0006).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.storage.recovery_point import FILE_NAME as RECOVERY_POINT
from kraftctl.storage.witness import FILE_NAME as WITNESS
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.vote_request import PartitionData, TopicData, VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.log_file_names import QUORUM_STATE
from tests.support.processes.kafka import JavaController, KraftctlController, kafka
from tests.support.processes.quorum import Quorum, TopicCreator
from tests.support.wire.controller_client import ControllerClient

pytestmark = pytest.mark.interop

LATER = 5
"""So many epochs after the last one of the log."""

VOTE_VERSION = 1
"""Before pre-votes."""


def _java(of: KraftctlController) -> JavaController:
    java = JavaController(
        kafka(),
        of.node_id,
        of.directory,
        of.cluster_id,
        dynamic=of.dynamic,
        port=of.port,
        properties=of.properties,
    )
    java.write_configuration()
    return java


def _ask_for_a_vote(voter: JavaController, cluster_id: str, candidate_id: int, epoch: int) -> bool:
    """Whether it grants the vote of a static quorum to a candidate that has everything."""
    partition = PartitionData(
        replica_epoch=epoch, replica_id=candidate_id, last_offset_epoch=epoch - 1, last_offset=1 << 40
    )
    topic = TopicData(topic_name="__cluster_metadata", partitions=[partition])
    request = VoteRequest(cluster_id=cluster_id, voter_id=voter.node_id, topics=[topic])
    with ControllerClient(voter.port) as client:
        answer = client.call(request, VOTE_VERSION, VoteResponse)
    assert answer.error_code == Errors.NONE, answer
    return answer.topics[0].partitions[0].vote_granted


def _files(directory: Path) -> dict[str, bytes]:
    """Without the indexes, which kraftctl makes anew at each start."""
    paths = [path for path in directory.rglob("*") if path.is_file() and "index" not in path.name]
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


@pytest.mark.prevents("deleted-quorum-state")
@pytest.mark.parametrize(
    "stops", [pytest.param(True, id="stopped"), pytest.param(False, id="killed", marks=pytest.mark.long)]
)
def test_a_vote_of_kafka_s_that_was_deleted_is_not_given_again(tmp_path: Path, stops: bool) -> None:
    with Quorum(tmp_path, dynamic=False) as quorum:
        creator = TopicCreator(quorum)
        creator.create(2)
        creator.close()
        quorum.await_equal_logs()
        for node in quorum.nodes:
            node.stop() if stops else node.kill()
        voter, candidate, _ = quorum.nodes
        before = _files(voter.log_directory)
        java = _java(voter)
        java.start()
        try:
            epoch = LATER + int(before[RECOVERY_POINT].split(b"quorum.epoch=")[1].split()[0])
            assert _ask_for_a_vote(java, voter.cluster_id, candidate.node_id, epoch)
        finally:
            java.stop() if stops else java.kill()
        (voter.metadata_directory / QUORUM_STATE).unlink()
        after = _files(voter.log_directory)
        gone = {f"{voter.metadata_directory.name}/{name}" for name in (QUORUM_STATE, WITNESS)}
        assert gone <= before.keys() - after.keys()
        traces = {name for name in after if after[name] != before.get(name)}
        print(f"besides, Kafka's controller leaves {sorted(traces)}")
        assert RECOVERY_POINT not in traces
        voter.start()
        line = voter.await_log("does not vote")
        assert "another controller may have voted since" in line, line


def test_without_another_controller_the_votes_are_written_again(tmp_path: Path) -> None:
    """Checks the test above."""
    with Quorum(tmp_path, dynamic=False) as quorum:
        creator = TopicCreator(quorum)
        creator.create(1)
        creator.close()
        for node in quorum.nodes:
            node.kill()
            (node.metadata_directory / QUORUM_STATE).unlink()
            node.start(wait=False)
        for node in quorum.nodes:
            node.await_log("It is written again with epoch")
        quorum.leader()
