"""A voter loses its log: with its old identity it recovers before it votes, otherwise it is a new voter."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController, kraftctl_command, run_to_the_end
from kraftctl.dev.polling import await_result
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest, Listener
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from tests.support.processes.quorum import Quorum, TopicCreator, topics_known_to
from tests.support.wire.controller_client import ControllerClient

pytestmark = pytest.mark.slow

SNAPSHOTS_ARE_FREQUENT = {
    "metadata.log.max.record.bytes.between.snapshots": "3000",
    "metadata.max.retention.bytes": "1",
}


@pytest.mark.prevents("lost-log-votes")
@pytest.mark.parametrize(
    "dynamic", [pytest.param(False, id="static"), pytest.param(True, id="dynamic", marks=pytest.mark.long)]
)
def test_a_voter_without_its_log_elects_no_leader_that_lacks_acknowledged_records(
    tmp_path: Path, dynamic: bool
) -> None:
    """The log is moved away while the other voter that has the records is down, too."""
    with Quorum(tmp_path, dynamic=dynamic) as quorum:
        creator = TopicCreator(quorum)
        creator.create(3)
        leader = quorum.leader()
        victim, behind = [node for node in quorum.nodes if node is not leader]
        quorum.await_equal_logs()
        behind.kill()
        creator.create(5)
        leader.kill()
        victim.kill()
        shutil.rmtree(victim.metadata_directory)
        behind.start()
        victim.start()
        victim.await_log("This replica is recovering and does not vote")
        if not dynamic:  # in a dynamic quorum it does not even know that it was a voter
            victim.await_log("ote of epoch [0-9]+ for .* is rejected")

        leader.start()
        creator.create(3)
        victim.await_log("this replica votes again")
        for node in quorum.nodes:
            await_result(partial(knows, node, creator.acknowledged), f"{node.name} has every topic", 20.0)

        # One of three voters is gone: without the vote of the victim there is no leader.
        leader.kill()
        creator.create(3)
        victim.stop()
        leader.start()
        victim.start()
        assert "does not vote" not in last_output(victim)
        creator.close()


def knows(node: KraftctlController, topics: set[str]) -> bool:
    return topics <= topics_known_to(node)


def last_output(node: KraftctlController) -> str:
    """The output since the last start."""
    assert node.process is not None
    return node.process.tail()


def test_a_lost_log_is_filled_from_a_snapshot(tmp_path: Path) -> None:
    """KIP-630: the leader's log starts above 0; what precedes it is only in its snapshots."""
    with Quorum(tmp_path, dynamic=False, settings=SNAPSHOTS_ARE_FREQUENT) as quorum:
        creator = TopicCreator(quorum)
        creator.create(3)
        leader = quorum.leader()
        victim = next(node for node in quorum.nodes if node is not leader)
        victim.kill()
        shutil.rmtree(victim.metadata_directory)
        creator.create(40)
        leader = quorum.leader()

        def has_cut_its_log() -> bool:
            return any(leader.metadata_directory.glob("*.checkpoint"))

        await_result(has_cut_its_log, "the leader has a snapshot")
        creator.create(40)
        victim.start()
        victim.await_log("The log starts over at snapshot")
        victim.await_log("this replica votes again")
        creator.create(3)
        await_result(partial(knows, victim, creator.acknowledged), "the victim knows every topic")

        # Snapshot and log are all that it has: as a leader it needs them.
        for node in quorum.nodes:
            if node is not victim:
                node.kill()
                node.start()
        creator.create(3)
        quorum.leader().kill()
        creator.create(3)
        creator.close()


@pytest.mark.prevents("lost-log-votes")
def test_a_lost_directory_is_replaced_by_a_new_voter(tmp_path: Path) -> None:
    """The steps of docs/operations/lost-disk.md: removed, formatted with a new directory id, added again."""
    with Quorum(tmp_path, dynamic=True) as quorum:
        creator = TopicCreator(quorum)
        creator.create(3)
        leader = quorum.leader()
        victim = next(node for node in quorum.nodes if node is not leader)
        old_id = directory_id(victim)
        victim.kill()
        shutil.rmtree(victim.log_directory)
        with ControllerClient(quorum.leader().port) as client:
            removal = RemoveRaftVoterRequest(
                cluster_id=quorum.cluster_id, voter_id=victim.node_id, voter_directory_id=old_id
            )

            def is_removed() -> bool:
                """It is refused while the other follower lacks records."""
                answer = client.call(removal, 0, RemoveRaftVoterResponse)
                assert answer.error_code in (Errors.NONE, Errors.REQUEST_TIMED_OUT), answer.error_message
                return answer.error_code == Errors.NONE

            await_result(is_removed, "the voter is removed", 20.0)

        command = ["format", "-t", quorum.cluster_id, "-c", str(victim.properties_file)]
        run_to_the_end(kraftctl_command(*command, "--no-initial-controllers"), "formatting")
        assert directory_id(victim) != old_id
        victim.start()
        await_result(partial(knows, victim, creator.acknowledged), "the victim has every topic", 20.0)
        assert "does not vote" not in last_output(victim)
        add_voter(quorum, victim)
        creator.create(3)

        # One of three voters is gone: without the vote of the new one there is no leader.
        quorum.leader().kill()
        creator.create(3)
        await_result(partial(knows, victim, creator.acknowledged), "the victim has every topic", 20.0)
        creator.close()


def directory_id(node: KraftctlController) -> bytes:
    meta = read_meta_properties(node.log_directory)
    assert meta is not None
    assert meta.directory_id is not None
    return meta.directory_id


def add_voter(quorum: Quorum, node: KraftctlController) -> None:
    addition = AddRaftVoterRequest(
        cluster_id=quorum.cluster_id,
        timeout_ms=10_000,
        voter_id=node.node_id,
        voter_directory_id=directory_id(node),
        listeners=[Listener("CONTROLLER", "localhost", node.port)],
    )

    def is_added() -> bool:
        """The leader answers REQUEST_TIMED_OUT until it has seen that the replica is caught up."""
        with ControllerClient(quorum.leader().port) as client:
            answer = client.call(addition, 0, AddRaftVoterResponse)
        assert answer.error_code in (Errors.NONE, Errors.REQUEST_TIMED_OUT), answer.error_message
        return bool(answer.error_code == Errors.NONE)

    await_result(is_added, f"{node.name} is a voter", 20.0)
