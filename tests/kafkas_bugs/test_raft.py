"""Defects that Kafka's quorum had; each test names the issue."""

from __future__ import annotations

import pytest

from kraftctl.raft.raft_config import CHECK_QUORUM_TIMEOUT_FACTOR, RaftConfig
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.states import Follower, Leader
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.message import Message
from tests.support.raft_names import directory_id, endpoint, voter_node
from tests.support.simulator.cluster.cluster import LISTENER, PORT, host
from tests.support.simulator.cluster.wire import LinkFaults
from tests.support.simulator.quorum import Question, Quorum, StartQuorum

VOTERS = [1, 2, 3]
OBSERVER = 11
OTHER_OBSERVER = 12
FETCH_TIMEOUT_MS = RaftConfig().fetch_timeout_ms


def commit(quorum: Quorum, question: Question) -> None:
    """A change of voters succeeds."""
    quorum.run_for(3_000)
    assert question.error == Errors.NONE


def sent(quorum: Quorum, since: int, sender_id: int, receiver_id: int, what: str) -> int:
    """How many such requests were sent, from this line of the trace on."""
    lines = [line for line in quorum.lines(sender_id, since) if line.startswith("send ")]
    return sum(f"@{host(receiver_id)}: {what}(" in line for line in lines)


# Leaders.


@pytest.mark.prevents("tests-that-cannot-fail", "KAFKA-15489")
def test_a_voter_that_downloads_a_snapshot_counts_for_check_quorum(start_quorum: StartQuorum) -> None:
    """KAFKA-15489: FetchSnapshot counts as Fetch does. The download takes longer than check-quorum."""
    quorum = start_quorum(9, VOTERS)
    leader = quorum.led()
    behind, other = quorum.followers()
    quorum.crash(behind)
    for _ in range(4):
        quorum.append(leader, 400)
    quorum.run_for(1_000)
    quorum.take_snapshot(leader)
    quorum.crash(other)
    quorum.wire.faults = LinkFaults(delay_us_max=400_000)
    epoch = leader.raft.epoch
    start = len(quorum.trace)
    started_ms = quorum.time.now_ms
    behind.start()
    while not any(line.startswith("start over") for line in quorum.lines(behind.node_id, start)):
        quorum.run_for(100)
        assert leader.raft.is_leader
        assert leader.raft.epoch == epoch
    assert quorum.time.now_ms - started_ms > 2 * FETCH_TIMEOUT_MS * CHECK_QUORUM_TIMEOUT_FACTOR


@pytest.mark.prevents("KAFKA-16536")
def test_a_leader_repeats_begin_quorum_epoch_to_a_silent_voter(start_quorum: StartQuorum) -> None:
    """KAFKA-16536: a voter that was restarted may not know its leader."""
    quorum = start_quorum(9, VOTERS)
    leader = quorum.led()
    silent, other = quorum.followers()
    silent.kill()
    since = len(quorum.trace)
    quorum.run_for(10 * FETCH_TIMEOUT_MS)
    heartbeats = sent(quorum, since, leader.node_id, silent.node_id, "BeginQuorumEpochRequest")
    assert 10 <= heartbeats <= 21
    assert sent(quorum, since, leader.node_id, other.node_id, "BeginQuorumEpochRequest") <= 1


@pytest.mark.prevents("tests-that-cannot-fail", "KAFKA-16530")
@pytest.mark.parametrize(
    ("after", "end_offsets"),
    [
        pytest.param([1, 2, 3, 4], {1: 20, 2: 20, 3: 12, 4: 12}, id="one-that-lags-is-added"),
        pytest.param([1, 3], {1: 20, 3: 12}, id="one-that-is-ahead-is-removed"),
        pytest.param([2, 3], {2: 20, 3: 12}, id="the-leader-is-removed"),
    ],
)
def test_the_high_watermark_waits_for_new_voters_and_never_falls(
    after: list[int], end_offsets: dict[int, int]
) -> None:
    """KAFKA-16530: the majority of the new voters is at 12 while 20 is committed already."""
    local_key = ReplicaKey(1, directory_id(1))
    state = Leader(
        5,
        local_key=local_key,
        leader_endpoints={LISTENER: endpoint(1)},
        epoch_start_offset=10,
        voters=VoterSet([voter_node(voter_id) for voter_id in VOTERS]),
        granting_voter_ids=[1, 2],
        deadline_ms=0,
    )
    state.update_local_end_offset(20)
    state.voter_states[2].end_offset = 20
    state.voter_states[3].end_offset = 12
    assert state.advance_high_watermark()
    assert state.high_watermark == 20
    state.set_voters(VoterSet([voter_node(voter_id) for voter_id in after]))
    for voter_id, end_offset in end_offsets.items():
        state.voter_states[voter_id].end_offset = end_offset
    assert not state.advance_high_watermark()
    assert state.high_watermark == 20
    state.update_local_end_offset(30)
    for voter in state.voter_states.values():
        voter.end_offset = 25
    assert state.advance_high_watermark()
    assert state.high_watermark == 25


@pytest.mark.prevents("KAFKA-16530")
def test_commits_continue_after_a_follower_and_the_leader_are_removed(start_quorum: StartQuorum) -> None:
    """KAFKA-16530: no commit waits for removed voters, not even for the removed leader."""
    quorum = start_quorum(9, VOTERS, [OBSERVER])
    commit(quorum, quorum.add_voter(OBSERVER))
    commit(quorum, quorum.remove_voter(quorum.followers()[0].node_id))
    former = quorum.led()
    commit(quorum, quorum.remove_voter(former.node_id))
    quorum.run_for(10_000)
    successor = quorum.led()
    assert successor is not former
    quorum.append(successor, 3)
    quorum.run_for(2_000)
    for process in quorum.processes.values():
        assert process.raft.high_watermark == successor.raft.end_offset


@pytest.mark.prevents("KAFKA-16530")
def test_the_last_voter_leads_after_the_leader_beside_it_removed_itself(start_quorum: StartQuorum) -> None:
    """KAFKA-16530: the remaining voter keeps fetching until the removal is committed."""
    quorum = start_quorum(9, VOTERS)
    commit(quorum, quorum.remove_voter(quorum.followers()[0].node_id))
    former = quorum.led()
    commit(quorum, quorum.remove_voter(former.node_id))
    quorum.run_for(15_000)
    successor = quorum.led()
    assert successor is not former
    assert not former.raft.is_leader
    assert successor.raft.voter_set.voter_ids() == [successor.node_id]
    quorum.append(successor, 3)
    quorum.run_for(2_000)
    for process in quorum.processes.values():
        assert process.raft.high_watermark == successor.raft.end_offset


# Changes of the voters.


@pytest.mark.prevents("KAFKA-20740")
@pytest.mark.parametrize("first", ["add", "remove", "update"])
@pytest.mark.parametrize("second", ["add", "remove", "update"])
def test_a_change_that_timed_out_still_keeps_the_next_one_away(
    first: str, second: str, start_quorum: StartQuorum
) -> None:
    """KAFKA-20740: it was answered, but its record may still be committed: no two are uncommitted."""
    quorum = start_quorum(9, VOTERS, [OBSERVER, OTHER_OBSERVER])
    leader = quorum.led()
    followers = quorum.followers()
    changes = {
        "add": lambda node_id: quorum.add_voter(node_id),
        "remove": lambda _: quorum.remove_voter(followers[0].node_id),
        "update": lambda _: quorum.update_voter(followers[1].node_id, PORT + 1 + len(asked)),
    }
    asked: list[Question] = []
    for follower in followers:
        follower.hold_flushes()
    asked.append(changes[first](OBSERVER))
    quorum.run_for(RaftConfig().request_timeout_ms + 100)
    assert asked[0].error == (Errors.NONE if first == "update" else Errors.REQUEST_TIMED_OUT)
    uncommitted = leader.raft.voter_set
    assert leader.raft.high_watermark < leader.raft.end_offset
    asked.append(changes[second](OTHER_OBSERVER))
    quorum.run_for(100)
    assert asked[1].error == Errors.REQUEST_TIMED_OUT
    assert leader.raft.is_leader
    assert leader.raft.voter_set == uncommitted
    for follower in followers:
        follower.release_flushes()
    quorum.run_for(1_000)
    assert leader.raft.high_watermark == leader.raft.end_offset


@pytest.mark.prevents("KAFKA-19021")
def test_a_broker_is_not_made_a_voter(start_quorum: StartQuorum) -> None:
    """KAFKA-19021: it fetches, as observers do, but its listener knows no Vote."""
    quorum = start_quorum(9, VOTERS, [OBSERVER])
    leader = quorum.led()

    def as_broker(message: Message) -> None:
        if isinstance(message, ApiVersionsResponse):
            message.api_keys = [api for api in message.api_keys if api.api_key != ApiKey.VOTE]

    leader.forge = as_broker
    end_offset = leader.raft.end_offset
    refused = quorum.add_voter(OBSERVER)
    quorum.run_for(1_000)
    assert refused.error == Errors.INVALID_REQUEST
    assert isinstance(refused.answer, AddRaftVoterResponse)
    assert f"is no controller: {host(OBSERVER)}:{PORT}" in (refused.answer.error_message or "")
    assert leader.raft.end_offset == end_offset
    leader.forge = None
    commit(quorum, quorum.add_voter(OBSERVER))


@pytest.mark.prevents("KAFKA-17332")
def test_an_observer_fetches_from_an_offset_once_it_has_flushed_what_is_before(
    start_quorum: StartQuorum,
) -> None:
    """KAFKA-17332: its Fetch counts for the majority as soon as it is one of the voters."""
    quorum = start_quorum(9, VOTERS, [OBSERVER])
    leader, observer = quorum.led(), quorum.processes[OBSERVER]
    quorum.crash(quorum.followers()[0])
    durable_end = leader.raft.end_offset
    observer.hold_flushes()
    since = len(quorum.trace)
    quorum.append(leader, 3)
    added = quorum.add_voter(OBSERVER)
    quorum.run_for(1_000)
    assert leader.raft.voter_set.voter_ids() == [*VOTERS, OBSERVER]
    assert leader.raft.high_watermark == durable_end + 3 == leader.raft.end_offset - 1
    assert observer.raft.end_offset > durable_end == quorum.durable_end(observer)
    assert sent(quorum, since, OBSERVER, leader.node_id, "FetchRequest") == 0
    assert added.response is None
    observer.release_flushes()
    commit(quorum, added)


# What is known of voters.


@pytest.mark.prevents("KAFKA-17604")
def test_describe_quorum_has_the_endpoints_of_an_added_voter(start_quorum: StartQuorum) -> None:
    """KAFKA-17604: they are in AddRaftVoter and nowhere else."""
    quorum = start_quorum(9, VOTERS, [OBSERVER])
    commit(quorum, quorum.add_voter(OBSERVER))
    partitions = [PartitionData(partition_index=0)]
    request = DescribeQuorumRequest(
        topics=[TopicData(topic_name="__cluster_metadata", partitions=partitions)]
    )
    response = quorum.ask(quorum.led(), request).answer
    assert isinstance(response, DescribeQuorumResponse)
    known = {
        node.node_id: [(listener.name, listener.host, listener.port) for listener in node.listeners]
        for node in response.nodes
    }
    assert known == {voter_id: [(LISTENER, host(voter_id), PORT)] for voter_id in [*VOTERS, OBSERVER]}


@pytest.mark.prevents("KAFKA-19850")
def test_a_replica_knows_the_voters_when_their_records_are_in_a_snapshot_only(
    start_quorum: StartQuorum,
) -> None:
    """KAFKA-19850: it downloads the snapshot, and still knows them after a restart."""
    quorum = start_quorum(9, VOTERS, [OBSERVER])
    behind = quorum.processes[OBSERVER]
    quorum.crash(behind)
    removed = quorum.followers()[0].node_id
    commit(quorum, quorum.remove_voter(removed))
    leader = quorum.led()
    quorum.append(leader, 3)
    quorum.run_for(1_000)
    quorum.take_snapshot(leader)
    expected = [voter_id for voter_id in VOTERS if voter_id != removed]
    for _ in range(2):
        behind.start()
        quorum.run_for(5_000)
        assert behind.partition.log.start_offset == leader.partition.log.start_offset
        assert behind.raft.voter_set.voter_ids() == expected
        quorum.crash(behind)


@pytest.mark.prevents("KAFKA-19850")
def test_a_removed_voter_does_not_add_itself_immediately(start_quorum: StartQuorum) -> None:
    """KAFKA-19850: with auto-join it checks once per fetch timeout whether it votes."""
    quorum = start_quorum(9, VOTERS, properties={"controller.quorum.auto.join.enable": "true"})
    removed = quorum.followers()[0]
    core, state = removed.raft._core, removed.raft._core.state
    assert isinstance(state, Follower)
    for _ in range(FETCH_TIMEOUT_MS):
        if state.update_voter_at_ms - core.now_ms > FETCH_TIMEOUT_MS - 500:
            break
        quorum.run_for(10)
    assert state.update_voter_at_ms > core.now_ms, "it has just checked"
    since = len(quorum.trace)
    quorum.remove_voter(removed.node_id)
    quorum.run_for(FETCH_TIMEOUT_MS - 1_000)
    leader_id = quorum.led().node_id
    assert removed.node_id not in quorum.led().raft.voter_set.voter_ids()
    assert sent(quorum, since, removed.node_id, leader_id, "AddRaftVoterRequest") == 0
    quorum.run_for(3 * FETCH_TIMEOUT_MS)
    assert removed.node_id in quorum.led().raft.voter_set.voter_ids()


# Observers.


@pytest.mark.prevents("KAFKA-19605")
@pytest.mark.parametrize("voters_run", [True, False], ids=["voters-refuse", "voters-are-down"])
def test_an_observer_without_any_leader_pauses_between_its_fetches(
    voters_run: bool, start_quorum: StartQuorum
) -> None:
    """KAFKA-19605: every response is an immediate refusal, yet it paces its requests."""
    quorum = start_quorum(9, VOTERS, [OBSERVER])
    for voter_id in VOTERS:
        if voters_run:
            quorum.wire.isolate(voter_id, [other for other in VOTERS if other != voter_id])
        else:
            quorum.crash(quorum.processes[voter_id])
    quorum.run_for(5_000)
    assert quorum.leader() is None
    before = len(quorum.trace)
    quorum.run_for(10_000)
    fetches = sum(sent(quorum, before, OBSERVER, voter_id, "FetchRequest") for voter_id in VOTERS)
    # Three bootstrap servers and the former leader, each of them once in a retry backoff.
    assert 4 <= fetches <= 4 * 10_000 // RaftConfig().retry_backoff_ms


@pytest.mark.prevents("KAFKA-19354")
def test_an_observer_finds_the_next_leader_after_a_crash(start_quorum: StartQuorum) -> None:
    """KAFKA-19354: no request names a new leader to an observer, so it queries the bootstrap servers."""
    quorum = start_quorum(9, VOTERS, [OBSERVER])
    quorum.crash(quorum.led())
    # Of the three, the one that is silent may be queried several times, for two seconds each.
    quorum.run_for(40_000)
    successor = quorum.led()
    observer = quorum.processes[OBSERVER]
    assert observer.raft.leader_id == successor.node_id
    quorum.append(successor, 1)
    quorum.run_for(1_000)
    assert observer.raft.high_watermark == successor.raft.end_offset


@pytest.mark.prevents("KAFKA-19354", "KAFKA-20514")
def test_an_observer_cut_off_from_its_leader_tries_every_server(start_quorum: StartQuorum) -> None:
    """KAFKA-20514: within one epoch it queries the leader and all bootstrap servers in turn.

    KAFKA-19354: once the leader answers, it fetches from no other server.
    """
    quorum = start_quorum(9, VOTERS, [OBSERVER])
    leader = quorum.led()
    epoch = leader.raft.epoch
    quorum.wire.isolate(OBSERVER, [leader.node_id])
    since = len(quorum.trace)
    quorum.run_for(120_000)
    assert leader.raft.epoch == epoch
    for voter_id in VOTERS:
        assert sent(quorum, since, OBSERVER, voter_id, "FetchRequest") > 1
    quorum.wire.cut.clear()
    quorum.append(leader, 1)
    quorum.run_for(5_000)
    assert quorum.processes[OBSERVER].raft.high_watermark == leader.raft.end_offset
    since = len(quorum.trace)
    quorum.run_for(10_000)
    assert leader.raft.epoch == epoch
    assert [
        voter_id for voter_id in VOTERS if sent(quorum, since, OBSERVER, voter_id, "FetchRequest") > 0
    ] == [leader.node_id]
