"""LeaderCompleteness: a replica's Fetch and Vote requests name only what is on its disk."""

from __future__ import annotations

import re

import pytest

from kraftctl.raft.election_state import ElectionState
from kraftctl_protocol.generated.vote_request import PartitionData, TopicData, VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.quorum import Quorum, StartQuorum

VOTERS = [1, 2, 3]

CLAIM = re.compile(r"^send .*VoteRequest\(.* last_offset=(\d+)")


def with_unflushed_record(quorum: Quorum) -> tuple[ControllerProcess, ControllerProcess, ControllerProcess]:
    """Leader A, B, and C: what A and B have committed, C has in memory only."""
    a = quorum.led()
    b, c = quorum.followers()
    c.hold_flushes()
    quorum.append(a, 1)
    quorum.run_for(200)
    assert a.raft.high_watermark == a.raft.end_offset == c.raft.end_offset
    assert quorum.durable_end(c) < c.raft.end_offset
    return a, b, c


@pytest.mark.prevents("unflushed-claim")
def test_a_candidate_claims_only_what_is_on_its_disk(start_quorum: StartQuorum) -> None:
    """C has a record in memory while its fsync stalls, and becomes a candidate after its leader crashed."""
    quorum = start_quorum(31, VOTERS)
    a, b, c = with_unflushed_record(quorum)
    since = len(quorum.trace)
    quorum.crash(a)
    b.freeze()
    while c.raft.state_name != "Prospective":
        quorum.run_for(10)
    b.resume()
    quorum.run_for(15_000)
    claims = [int(found[1]) for line in quorum.lines(c.node_id, since) if (found := CLAIM.match(line))]
    assert claims
    assert max(claims) <= quorum.durable_end(c)
    assert quorum.led() is b


@pytest.mark.prevents("unflushed-claim")
def test_a_vote_is_not_repeated_for_a_shorter_log(start_quorum: StartQuorum) -> None:
    """LeaderCompleteness: A and B have committed X, which C has in memory only.

    A crashes, B votes for C, C loses power and restarts as candidate of the same epoch, without X.
    """
    quorum = start_quorum(32, VOTERS)
    a, b, c = with_unflushed_record(quorum)
    quorum.crash(a)
    b.freeze()
    for _ in range(10_000):
        quorum.run_for(1)
        if c.raft.state_name == "Prospective":
            b.resume()
        elif c.raft.state_name == "Candidate":
            quorum.wire.cut.add((b.node_id, c.node_id))
            break
    quorum.run_for(100)
    quorum.crash(c)
    c.release_flushes()
    quorum.wire.cut.clear()
    quorum.restart_all(but=[a])
    quorum.run_for(20_000)
    assert quorum.led() is b


def test_a_vote_outlives_a_lost_pre_election(start_quorum: StartQuorum) -> None:
    """ElectionSafety: A has voted for B in epoch 5, no voter answers, and then C asks for its vote."""
    quorum = start_quorum(33, VOTERS, dynamic=False, settled=False)
    for process in quorum.running():
        quorum.crash(process)
    a = quorum.processes[1]
    quorum.store_election(a, ElectionState(epoch=5, voted_id=2, current_voters=VOTERS))
    quorum.isolate(1)
    a.start()
    quorum.run_for(20_000)
    lines = quorum.lines(1)
    assert any("Transition to Unattached" in line and "from Prospective" in line for line in lines)
    partition = PartitionData(replica_epoch=5, replica_id=3, last_offset=100, last_offset_epoch=4)
    request = VoteRequest(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])
    question = quorum.ask(a, request)
    quorum.run_for(100)
    response = question.answer
    assert isinstance(response, VoteResponse)
    answer = response.topics[0].partitions[0]
    assert (answer.error_code, answer.leader_epoch, answer.vote_granted) == (0, 5, False)
    stored = a.partition.read_quorum_state()
    assert stored is not None
    assert stored.voted_id == 2
