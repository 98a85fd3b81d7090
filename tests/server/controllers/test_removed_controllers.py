"""KIP-853 on real processes: the active controller is removed and continues as an observer."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from tests.support.processes.quorum import Quorum, TopicCreator, topics_known_to
from tests.support.wire.controller_client import ControllerClient


def describe(leader: KraftctlController) -> DescribeQuorumResponse:
    request = DescribeQuorumRequest(
        topics=[TopicData("__cluster_metadata", [PartitionData(partition_index=0)])]
    )
    with ControllerClient(leader.port) as client:
        return client.call(request, 2, DescribeQuorumResponse)


def remove(leader: KraftctlController, voter_id: int) -> Errors:
    voters = describe(leader).topics[0].partitions[0].current_voters
    directory_id = next(voter.replica_directory_id for voter in voters if voter.replica_id == voter_id)
    request = RemoveRaftVoterRequest(cluster_id=None, voter_id=voter_id, voter_directory_id=directory_id)
    with ControllerClient(leader.port) as client:
        return Errors(client.call(request, 0, RemoveRaftVoterResponse).error_code)


@pytest.mark.prevents("KAFKA-17608")
@pytest.mark.slow
def test_the_active_controller_removes_itself(tmp_path: Path) -> None:
    """KAFKA-17608: what it had appended and not committed is undone, and no process ends."""
    with Quorum(tmp_path, dynamic=True) as quorum:
        creator = TopicCreator(quorum)
        creator.create(5)
        former = quorum.leader()
        assert remove(former, former.node_id) == Errors.NONE
        creator.create(5)
        leader = quorum.leader()
        assert leader is not former
        voters = describe(leader).topics[0].partitions[0].current_voters
        expected = [node.node_id for node in quorum.nodes if node is not former]
        assert [voter.replica_id for voter in voters] == expected
        quorum.await_equal_logs()
        await_result(lambda: creator.acknowledged <= topics_known_to(former), "it follows as an observer")
        assert all(node.running for node in quorum.nodes)
        creator.close()
