"""KIP-853 as an executable specification: voters are data in the log; a replica is its id and its disk."""

from __future__ import annotations

import pytest

from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey
from kraftctl.raft.states import Leader
from kraftctl.raft.voter_history import VoterHistory
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.record_batch import read_batches
from tests.support.effort import seeds
from tests.support.raft_names import LISTENER, directory_id, replica_key, voter_node
from tests.support.simulator.cluster.raft_transcript import RaftTranscript
from tests.support.simulator.quorum import quorums


def dynamic(voters: str = "1", node_id: int = 1) -> RaftTranscript:
    """A node of a quorum formatted with --initial-controllers or --standalone, started."""
    transcript = RaftTranscript()
    transcript.run(f"node id={node_id} voters={voters} kraft-version=1")
    transcript.run("start")
    return transcript


# Voters are control records.


def test_the_first_leader_copies_version_and_voters_behind_its_leader_change() -> None:
    """The 0-0 checkpoint never leaves a disk, so that its content must go through the log."""
    transcript = dynamic()
    (first,) = read_batches(transcript.replica.partition.log.read(0, 1))
    assert first.header.is_control
    assert [record.key[-1] for record in first.records if record.key] == [2, 5, 6]
    transcript.run("flushed 3")
    assert "SNAPSHOT_NOT_FOUND" in transcript.run("fetch-snapshot id=0-0")
    assert "snapshot_id" not in transcript.run("fetch offset=0 last-epoch=0")


def test_later_leaders_write_voters_only_when_they_have_changed_themselves() -> None:
    transcript = dynamic()
    transcript.run("flushed 3")
    transcript.run("crash")
    assert "VotersRecord" not in transcript.run("start")
    transcript.run("flushed 4")
    transcript.run("crash port=9999")
    assert "port=9999" in transcript.run("start")


def test_voters_count_from_their_append_and_no_longer_than_they_are_in_the_log() -> None:
    one, two = VoterSet([voter_node(1)]), VoterSet([voter_node(1), voter_node(2)])
    history = VoterHistory(VoterSet([]), [(-1, one)], [(-1, 1)])
    history.add_voters(10, two)
    assert history.current == two
    history.truncate_to(10)
    assert history.current == one


def test_a_static_quorum_writes_neither_version_nor_voters() -> None:
    transcript = RaftTranscript()
    transcript.run("node id=1 voters=1 kraft-version=0")
    assert "VotersRecord" not in transcript.run("start")


# A replica is its id and its directory.


@pytest.mark.parametrize(
    ("replica", "counts"),
    [
        pytest.param(replica_key(2), True, id="the-voter"),
        pytest.param(replica_key(2, generation=1), False, id="its-id-on-a-new-disk"),
        pytest.param(ReplicaKey(2, NO_DIRECTORY_ID), False, id="directory-not-named"),
        pytest.param(replica_key(4), False, id="an-observer"),
    ],
)
def test_only_fetches_of_voters_move_the_high_watermark(replica: ReplicaKey, counts: bool) -> None:
    leader = Leader(
        1,
        local_key=replica_key(1),
        leader_endpoints={LISTENER: ("host", 1)},
        epoch_start_offset=0,
        voters=VoterSet([voter_node(1), voter_node(2), voter_node(3)]),
        granting_voter_ids=[1, 2],
        deadline_ms=0,
    )
    leader.update_local_end_offset(5)
    leader.replica(replica, 0).end_offset = 5
    assert leader.advance_high_watermark() is counts


def test_a_vote_meant_for_a_lost_disk_is_not_given() -> None:
    transcript = dynamic("1,2,3")
    answer = transcript.run("vote epoch=4 candidate=2 voter=1 voter-directory=other")
    assert "INVALID_VOTER_KEY" in answer
    assert "vote_granted" not in answer
    assert "vote_granted" in transcript.run("vote epoch=4 candidate=2 voter=1")


def test_a_vote_is_remembered_with_the_directory_it_was_given_to() -> None:
    transcript = dynamic("1,2,3")
    transcript.run("vote epoch=4 candidate=2 voter=1")
    with transcript.files.attach():
        state = transcript.replica.partition.read_quorum_state()
    assert state is not None
    assert (state.data_version, state.voted_id, state.voted_directory_id) == (1, 2, directory_id(2))
    transcript.run("crash")
    transcript.run("start")
    assert "vote_granted" not in transcript.run("vote epoch=4 candidate=2 directory=other")


@pytest.mark.prevents("KAFKA-17067")
def test_a_replica_outside_of_the_voter_set_is_never_a_candidate() -> None:
    transcript = dynamic("1", node_id=9)
    transcript.run("sleep 20000")
    assert transcript.run("state").startswith("Unattached epoch=0")


def test_a_voter_with_a_new_disk_is_an_observer() -> None:
    transcript = RaftTranscript()
    transcript.run("node id=1 voters=1 kraft-version=1 directory=other")
    transcript.run("start")
    transcript.run("sleep 20000")
    assert transcript.run("state").startswith("Unattached")


# Endpoints travel with responses.


def test_a_response_names_the_leader_s_endpoint_for_the_listener_of_the_request() -> None:
    transcript = dynamic()
    transcript.run("flushed 3")
    assert "node_id=1 host=host-1 port=9093" in transcript.run("fetch offset=0 epoch=0 last-epoch=0")
    assert "host=other port=1" in transcript.run("fetch offset=0 epoch=0 last-epoch=0 listener=OTHER")


def test_a_follower_receives_the_endpoints_of_its_leader() -> None:
    transcript = dynamic("1,2,3")
    assert "send" in transcript.run("begin-quorum-epoch leader=2 epoch=3 voter=1")
    assert transcript.run("state").startswith("Follower epoch=3 leader=2")


# Changes of the voters: one at a time, and never before this epoch has committed.


@pytest.mark.parametrize(
    ("command", "error"),
    [
        pytest.param("add-voter voter=2 cluster=other", "INCONSISTENT_CLUSTER_ID", id="other-cluster"),
        pytest.param("add-voter voter=2 directory=none", "INVALID_REQUEST", id="no-directory"),
        pytest.param("add-voter voter=2 endpoint=PLAINTEXT", "INVALID_REQUEST", id="no-controller-listener"),
        pytest.param("add-voter voter=1 directory=other", "DUPLICATE_VOTER", id="id-votes-already"),
        pytest.param("remove-voter voter=2", "VOTER_NOT_FOUND", id="not-a-voter"),
        pytest.param("remove-voter voter=1 directory=other", "VOTER_NOT_FOUND", id="other-disk-votes"),
        pytest.param("remove-voter voter=1", "VOTER_NOT_FOUND", id="no-voter-would-be-left"),
        pytest.param("update-voter voter=2", "VOTER_NOT_FOUND", id="update-of-no-voter"),
        pytest.param("update-voter voter=1 range=2-3", "INVALID_REQUEST", id="cannot-do-kraft-version-1"),
    ],
)
def test_refusals(command: str, error: str) -> None:
    transcript = dynamic()
    transcript.run("flushed 3")
    assert error in transcript.run(command)


@pytest.mark.parametrize("command", ["add-voter voter=2", "remove-voter voter=1", "update-voter voter=1"])
def test_nothing_changes_before_this_epoch_has_committed(command: str) -> None:
    """Otherwise two leaders could each make a change that the other does not know."""
    transcript = dynamic()
    assert "REQUEST_TIMED_OUT" in transcript.run(command)


@pytest.mark.parametrize("command", ["add-voter voter=2", "remove-voter voter=1"])
def test_kraft_version_0_knows_no_changes(command: str) -> None:
    transcript = RaftTranscript()
    transcript.run("node id=1 voters=1 kraft-version=0")
    transcript.run("start")
    transcript.run("flushed 1")
    assert "UNSUPPORTED_VERSION" in transcript.run(command)


@pytest.mark.parametrize("kraft_version", [0, 1])
def test_a_voter_reports_its_address_to_the_log_or_to_the_leader_s_memory(kraft_version: int) -> None:
    """The log has voters with kraft.version 1 alone."""
    transcript = RaftTranscript()
    transcript.run(f"node id=1 voters=1 kraft-version={kraft_version}")
    transcript.run("start")
    transcript.run(f"flushed {transcript.node.end_offset}")
    answer = transcript.run("update-voter voter=1")
    assert ("VotersRecord" in answer) == (kraft_version == 1)
    assert "error_code" not in answer


# All of it together.


@pytest.mark.parametrize("seed", seeds(3))
def test_a_dynamic_quorum_elects_among_the_voters_of_its_log(seed: int) -> None:
    """ObserversNeverVote, NextVoterSetOverlaps and AtMostOneUncommittedVoterChange run meanwhile."""
    with quorums() as start_quorum:
        quorum = start_quorum(seed, [1, 2, 3], [11])
        quorum.crash(quorum.led())
        quorum.run_for(10_000)
        quorum.restart_all()
        quorum.run_for(5_000)
        for process in quorum.running():
            assert process.raft.voter_set.voter_ids() == [1, 2, 3]
            assert process.raft.kraft_version == 1
