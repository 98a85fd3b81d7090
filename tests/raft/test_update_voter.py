"""KIP-853: a voter that listens elsewhere than the log says, or supports something else, reports that."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.elections import join_epoch
from kraftctl.raft.events import ResponseReceived
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey
from kraftctl.raft.states import Follower
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from kraftctl_protocol.generated.update_raft_voter_response import UpdateRaftVoterResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from tests.support.simulator.cluster.cluster import LISTENER, PORT, host
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.raft_transcript import RaftTranscript
from tests.support.simulator.quorum import Quorum, StartQuorum

VOTERS = [1, 2, 3]
NEW_PORT = 9193
FETCH_TIMEOUT_MS = RaftConfig().fetch_timeout_ms


def move(quorum: Quorum, process: ControllerProcess, port: int = NEW_PORT) -> None:
    """The operator restarts it with another port."""
    process.kill()
    quorum.move(process, port)
    process.start()


def port_of(process: ControllerProcess, voter_id: int) -> int:
    """Where a voter listens, by what the log of `process` says."""
    return process.raft.voter_set.endpoints(voter_id)[LISTENER][1]


def requests(quorum: Quorum, since: int, sender_id: int) -> list[float]:
    """When this node has sent UpdateRaftVoter, in milliseconds."""
    lines = [line.split(" ", 3) for line in quorum.trace[since:] if "UpdateRaftVoterRequest" in line]
    return [float(at) for at, node, verb, _ in lines if node == str(sender_id) and verb == "send"]


def test_a_follower_that_moved_is_found_at_its_new_address(start_quorum: StartQuorum) -> None:
    """Then it leads: the others reach it where the log says."""
    quorum = start_quorum(9, VOTERS)
    leader = quorum.led()
    moved, other = quorum.followers()
    since = len(quorum.trace)
    move(quorum, moved)
    quorum.run_for(3 * FETCH_TIMEOUT_MS)
    assert [port_of(process, moved.node_id) for process in quorum.running()] == [NEW_PORT] * 3
    assert len(requests(quorum, since, moved.node_id)) == 1
    quorum.run_for(5 * FETCH_TIMEOUT_MS)
    assert len(requests(quorum, since, moved.node_id)) == 1, "the log agrees"
    quorum.crash(leader)
    quorum.run_for(10_000)
    assert quorum.led() in (moved, other)
    quorum.append(quorum.led(), 1)
    quorum.run_for(1_000)
    assert quorum.led().raft.high_watermark == quorum.led().raft.end_offset


@pytest.mark.prevents("moved-voters-unasked")
def test_a_candidate_that_knows_only_former_addresses_asks_the_bootstrap_servers(
    start_quorum: StartQuorum,
) -> None:
    """It never waits for a vote or a leader: it voted for itself, and no other voter can reach it."""
    quorum = start_quorum(9, VOTERS)
    candidate, other = quorum.followers()
    candidate.kill()
    epoch = quorum.led().raft.epoch + 1
    quorum.store_election(candidate, ElectionState(epoch=epoch, voted_id=candidate.node_id))
    for port, process in enumerate((quorum.led(), other), NEW_PORT):
        move(quorum, process, port)
        quorum.run_for(5 * FETCH_TIMEOUT_MS)
        assert port_of(quorum.led(), process.node_id) == port
    quorum.move(candidate, NEW_PORT - 1)
    candidate.start()
    quorum.run_for(5 * FETCH_TIMEOUT_MS)
    assert candidate.raft.leader_id == quorum.led().node_id
    assert port_of(quorum.led(), candidate.node_id) == NEW_PORT - 1


def test_a_leader_that_moved_writes_that_when_it_leads_again_and_asks_when_it_follows(
    start_quorum: StartQuorum,
) -> None:
    quorum = start_quorum(9, VOTERS)
    former = quorum.led()
    move(quorum, former)
    quorum.run_for(10_000)
    assert [port_of(process, former.node_id) for process in quorum.running()] == [NEW_PORT] * 3


def test_a_follower_takes_another_address_of_a_leader_that_it_has_not_reached() -> None:
    """Its log may have a former address; once reached, the leader stays where it is for its epoch."""
    transcript = RaftTranscript()
    transcript.run("quorum-state epoch=3 leader=2")
    transcript.run("node id=1 voters=1,2,3 kraft-version=1")
    assert "to 2@host-2" in transcript.run("start")
    follower = transcript.node._core.state
    assert isinstance(follower, Follower)
    follower.find_leader_at({LISTENER: ("former-host", 1)})
    deadline_ms = follower.deadline_ms
    transcript.run("begin-quorum-epoch leader=2 epoch=3 voter=1")
    assert transcript.node._core.state is follower, "its election is not put off"
    assert (follower.leader_endpoints, follower.deadline_ms) == ({LISTENER: ("host-2", 9093)}, deadline_ms)
    follower.leader_reached(0)
    join_epoch(transcript.node._core, 3, 2, {LISTENER: ("former-host", 1)})
    assert follower.leader_endpoints == {LISTENER: ("host-2", 9093)}


def test_an_address_for_one_listener_leaves_those_for_the_others() -> None:
    """Else each BeginQuorumEpoch names more than is known, and puts the election of its receiver off."""
    transcript = RaftTranscript()
    transcript.run("quorum-state epoch=3 leader=2")
    transcript.run("node id=1 voters=1,2,3 kraft-version=1")
    transcript.run("start")
    follower = transcript.node._core.state
    assert isinstance(follower, Follower)
    follower.find_leader_at({LISTENER: ("host-2", 1), "OTHER": ("other", 2)})
    join_epoch(transcript.node._core, 3, 2, {LISTENER: ("host-2", 9093)})
    assert follower.leader_endpoints == {LISTENER: ("host-2", 9093), "OTHER": ("other", 2)}
    join_epoch(transcript.node._core, 3, 2, {LISTENER: ("host-2", 9094), "OTHER": ("other", 3)})
    assert transcript.node._core.state is follower
    assert follower.leader_endpoints == {LISTENER: ("host-2", 9094), "OTHER": ("other", 3)}


def test_another_voter_at_the_former_address_of_the_leader_is_not_the_leader() -> None:
    """Both have moved. It names the leader's address, as any replica that does not lead."""
    transcript = RaftTranscript()
    transcript.run("quorum-state epoch=3 leader=2")
    transcript.run("node id=1 voters=1,2,3 kraft-version=1")
    sent = transcript.run("start")
    assert "send 1 to 2@host-2" in sent
    core = transcript.node._core
    fetched = PartitionData(
        error_code=Errors.NOT_LEADER_OR_FOLLOWER,
        current_leader=LeaderIdAndEpoch(leader_id=2, leader_epoch=3),
    )
    topic = FetchableTopicResponse(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[fetched])
    answer = FetchResponse(responses=[topic], node_endpoints=[NodeEndpoint(node_id=2, host="moved", port=9)])
    transcript.replica.step(ResponseReceived(1, answer))
    assert core.state.leader_endpoints == {LISTENER: ("moved", 9)}


def test_a_change_in_progress_puts_an_update_off(start_quorum: StartQuorum) -> None:
    """AtMostOneUncommittedVoterChange: the voter asks again a fetch timeout later."""
    quorum = start_quorum(9, VOTERS, [11])
    moved = quorum.followers()[0]
    since = len(quorum.trace)
    quorum.isolate(11)
    move(quorum, moved)
    quorum.run_for(FETCH_TIMEOUT_MS - 500)
    added = quorum.add_voter(11)
    quorum.run_for(1_000)
    (first,) = requests(quorum, since, moved.node_id)
    assert added.response is None
    assert port_of(quorum.led(), moved.node_id) == PORT
    quorum.run_for(2 * FETCH_TIMEOUT_MS)
    assert added.error == Errors.REQUEST_TIMED_OUT
    _, second = requests(quorum, since, moved.node_id)
    assert FETCH_TIMEOUT_MS <= second - first <= FETCH_TIMEOUT_MS + 600
    assert port_of(quorum.led(), moved.node_id) == NEW_PORT


def test_a_voter_asks_until_the_log_agrees(start_quorum: StartQuorum) -> None:
    """The response is no promise: the leader may be replaced before the update is committed."""
    quorum = start_quorum(9, VOTERS, [11])
    moved = quorum.followers()[0]

    def accept(message: Message) -> None:
        if isinstance(message, UpdateRaftVoterResponse):
            message.error_code = Errors.NONE

    moved.forge = accept
    since = len(quorum.trace)
    quorum.isolate(11)
    move(quorum, moved)
    quorum.run_for(FETCH_TIMEOUT_MS - 500)
    quorum.add_voter(11)
    quorum.run_for(3 * FETCH_TIMEOUT_MS)
    assert len(requests(quorum, since, moved.node_id)) == 2
    assert port_of(quorum.led(), moved.node_id) == NEW_PORT


@pytest.mark.parametrize(
    ("error", "asks_again"),
    [
        (Errors.NONE, False),
        (Errors.UNSUPPORTED_VERSION, False),
        (Errors.REQUEST_TIMED_OUT, True),
        (Errors.VOTER_NOT_FOUND, True),
        (Errors.INVALID_REQUEST, True),
        (Errors.CLUSTER_AUTHORIZATION_FAILED, True),
    ],
)
def test_with_kraft_version_0_each_leader_is_asked_until_it_answers(
    error: Errors, asks_again: bool, start_quorum: StartQuorum
) -> None:
    """As Kafka's followers; one that cannot know the request is as well updated as it can be."""
    quorum = start_quorum(9, VOTERS, dynamic=False, settled=False)

    def answer(message: Message) -> None:
        if isinstance(message, UpdateRaftVoterResponse):
            message.error_code = error

    for process in quorum.processes.values():
        process.forge = answer
    quorum.run_for(10 * FETCH_TIMEOUT_MS)
    for follower in quorum.followers():
        at_ms = requests(quorum, 0, follower.node_id)
        if not asks_again:
            assert len(at_ms) == 1
            continue
        pauses = [later - earlier for earlier, later in pairwise(at_ms)]
        assert len(pauses) >= 5
        assert all(FETCH_TIMEOUT_MS <= pause <= FETCH_TIMEOUT_MS + 600 for pause in pauses)


def test_with_kraft_version_0_the_leader_remembers_and_writes_nothing(start_quorum: StartQuorum) -> None:
    """Directory ids and ranges of all voters, which an upgrade to kraft.version 1 needs."""
    quorum = start_quorum(9, VOTERS, dynamic=False)
    leader = quorum.led()
    end_offset = leader.raft.end_offset
    directory_id = bytes(15) + b"x"
    assert quorum.update_voter(2, NEW_PORT, directory_id).error == Errors.NONE
    node = remembered(leader).nodes[2]
    assert node == VoterNode(ReplicaKey(2, directory_id), {LISTENER: (host(2), NEW_PORT)}, 0, 1)
    assert port_of(leader, 2) == PORT, "in the configuration"
    assert quorum.update_voter(4, NEW_PORT, directory_id).error == Errors.VOTER_NOT_FOUND
    quorum.run_for(3 * FETCH_TIMEOUT_MS)
    assert leader.raft.end_offset == end_offset
    quorum.crash(leader)
    quorum.run_for(10_000)
    successor = quorum.led()
    known = {id_: node.key.directory_id for id_, node in remembered(successor).nodes.items()}
    assert known == {id_: quorum.directory_ids[id_] for id_ in VOTERS} | {leader.node_id: NO_DIRECTORY_ID}


def test_an_update_is_written_once_and_answered_before_it_is_committed(start_quorum: StartQuorum) -> None:
    """As in Kafka; a repetition of it is answered without another record."""
    quorum = start_quorum(9, VOTERS)
    leader, (voter, _) = quorum.led(), quorum.followers()
    end_offset = leader.raft.end_offset
    assert quorum.update_voter(voter.node_id, NEW_PORT).error == Errors.NONE
    assert leader.raft.high_watermark <= end_offset < leader.raft.end_offset
    assert quorum.update_voter(voter.node_id, NEW_PORT).error == Errors.REQUEST_TIMED_OUT, "not committed yet"
    quorum.run_for(200)
    assert quorum.update_voter(voter.node_id, NEW_PORT).error == Errors.NONE
    assert leader.raft.end_offset == end_offset + 1


def test_an_update_names_the_replica_by_its_directory_too(start_quorum: StartQuorum) -> None:
    """Where the voters are in the log, a replica on a new disk is not the voter of its id."""
    quorum = start_quorum(9, VOTERS)
    voter = quorum.followers()[0]
    end_offset = quorum.led().raft.end_offset
    assert quorum.update_voter(voter.node_id, NEW_PORT, bytes(15) + b"x").error == Errors.VOTER_NOT_FOUND
    assert quorum.led().raft.end_offset == end_offset


def test_an_update_changes_neither_directory_nor_the_other_voters(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(9, VOTERS)
    voter = quorum.followers()[0]
    before = quorum.led().raft.voter_set
    assert quorum.update_voter(voter.node_id, NEW_PORT).error == Errors.NONE
    after = quorum.led().raft.voter_set
    assert [node.key for node in after.nodes.values()] == [node.key for node in before.nodes.values()]
    changed = [id_ for id_ in VOTERS if after.nodes[id_] != before.nodes[id_]]
    assert changed == [voter.node_id]


def remembered(process: ControllerProcess) -> VoterSet:
    leader = process.raft._core.leader()
    assert leader is not None
    return leader.volatile_voters
