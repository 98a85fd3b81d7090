"""What replicas may make this one keep: endpoints."""

from __future__ import annotations

import pytest

from kraftctl.metadata.registration_limits import HOST_BYTES_MAX, LISTENERS_MAX, NAME_BYTES_MAX
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.add_raft_voter_request import Listener as VoterListener
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest, LeaderEndpoint
from tests.support.simulator.raft_transcript import RaftTranscript
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
