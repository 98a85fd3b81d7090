"""What other replicas may make this one keep, and log."""

from __future__ import annotations

import pytest

from kraftctl.metadata.registration_limits import HOST_BYTES_MAX, LISTENERS_MAX, NAME_BYTES_MAX
from kraftctl.raft.epoch_pace import EPOCH_INTERVAL_MS, EPOCHS_AT_ONCE_MAX
from kraftctl.raft.limited_notices import INTERVAL_MS, LINES_PER_INTERVAL_MAX
from kraftctl.raft.raft_config import OBSERVERS_MAX
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.add_raft_voter_request import Listener as VoterListener
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest, LeaderEndpoint
from tests.support.simulator.cluster.raft_transcript import RaftTranscript
from tests.support.wire.raft_requests import REQUESTS

ENDPOINTS = [
    pytest.param(LISTENERS_MAX - 1, NAME_BYTES_MAX, HOST_BYTES_MAX, True, id="at-the-limits"),
    pytest.param(LISTENERS_MAX, 10, 10, False, id="one-listener-more"),
    pytest.param(1, NAME_BYTES_MAX + 1, 10, False, id="a-longer-name"),
    pytest.param(1, 10, HOST_BYTES_MAX + 1, False, id="a-longer-host"),
]
"""Listeners beside the controllers' own, bytes of their names and hosts, and whether that is accepted."""


def leading() -> RaftTranscript:
    """Node 1, the only voter, leads epoch 1."""
    transcript = RaftTranscript()
    transcript.run("node id=1 voters=1 kraft-version=1")
    transcript.run("start")
    transcript.run("flushed 3")
    return transcript


def names(count: int, name_bytes: int) -> list[str]:
    return [f"{index:03}".ljust(name_bytes, "n") for index in range(count)]


@pytest.mark.parametrize(("count", "name_bytes", "host_bytes", "accepted"), ENDPOINTS)
def test_endpoints_of_a_voter_to_add(count: int, name_bytes: int, host_bytes: int, accepted: bool) -> None:
    request, version = REQUESTS["add-voter"]({"voter": "2"})
    assert isinstance(request, AddRaftVoterRequest)
    request.listeners += [
        VoterListener(name=name, host="h" * host_bytes, port=1) for name in names(count, name_bytes)
    ]
    transcript = leading()
    with transcript.files.attach():
        transcript.replica.request(request, version, 1)
    refused = any("The voter cannot be added" in line for line in transcript.lines)
    assert refused is not accepted


@pytest.mark.parametrize(("count", "name_bytes", "host_bytes", "accepted"), ENDPOINTS)
def test_endpoints_of_a_leader(count: int, name_bytes: int, host_bytes: int, accepted: bool) -> None:
    transcript = RaftTranscript()
    transcript.run("node id=1 voters=1,2,3 kraft-version=1")
    transcript.run("start")
    request, version = REQUESTS["begin-quorum-epoch"]({"leader": "2", "epoch": "7"})
    assert isinstance(request, BeginQuorumEpochRequest)
    request.leader_endpoints += [
        LeaderEndpoint(name=name, host="h" * host_bytes, port=1) for name in names(count, name_bytes)
    ]
    with transcript.files.attach():
        transcript.replica.request(request, version, 1)
    assert transcript.node.epoch == (7 if accepted else 0)


def vote_for_epochs(transcript: RaftTranscript, first: int, count: int) -> list[str]:
    """The lines for the log because of as many votes of a candidate among the voters."""
    texts: list[str] = []
    for epoch in range(first, first + count):
        transcript.run(f"vote candidate=2 epoch={epoch}")
        texts += [line for line in transcript.lines if line.startswith(("INFO", "WARN", "ERROR"))]
    return texts


def test_a_candidate_of_ever_higher_epochs_does_not_fill_the_log() -> None:
    transcript = RaftTranscript()
    transcript.run("node id=1 voters=1,2,3 kraft-version=1")
    transcript.run("start")
    transcript.run("show-notices")
    flood = vote_for_epochs(transcript, 1, 500)
    assert len(flood) == 3 * LINES_PER_INTERVAL_MAX, flood[-3:]
    transcript.replica.pass_time(INTERVAL_MS)
    later = vote_for_epochs(transcript, 501, 1)
    left_out = [line for line in later if "similar lines were left out" in line]
    assert len(left_out) == 2
    assert len(later) > len(left_out)


def test_epochs_are_raised_at_the_pace_of_elections() -> None:
    """Each is a write of quorum-state that is forced to the disk."""
    transcript = RaftTranscript()
    transcript.run("node id=1 voters=1,2,3 kraft-version=1")
    transcript.run("start")
    transcript.run("show-notices")
    lines = vote_for_epochs(transcript, 1, 500)
    assert transcript.node.epoch == EPOCHS_AT_ONCE_MAX + 1
    assert any("is not joined yet: other replicas have raised the epoch more often" in line for line in lines)
    transcript.replica.pass_time(10 * EPOCH_INTERVAL_MS)
    vote_for_epochs(transcript, 501, 500)
    assert transcript.node.epoch == 510, "one in each interval, and not the ones between"


def test_an_ordinary_election_is_logged_completely() -> None:
    transcript = RaftTranscript()
    transcript.run("node id=1 voters=1,2,3 kraft-version=1")
    transcript.run("start")
    transcript.run("show-notices")
    assert len(vote_for_epochs(transcript, 1, 5)) >= 10


def test_the_longest_silent_observer_makes_room() -> None:
    """Without a look at each of them."""
    leader = leading().node._core.leader()
    assert leader is not None
    keys = [ReplicaKey(101, number.to_bytes(16, "big")) for number in range(OBSERVERS_MAX + 1)]
    for key in keys[:OBSERVERS_MAX]:
        leader.replica(key, 1)
    leader.replica(keys[0], 1)
    leader.replica(keys[OBSERVERS_MAX], 1)
    assert len(leader.observer_states) == OBSERVERS_MAX
    assert keys[1] not in leader.observer_states
    assert keys[0] in leader.observer_states
