"""Listeners that other replicas and tools name: none gets into the log that Kafka's replicas cannot read."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kraftctl.metadata.registration_limits import NAME_BYTES_MAX
from kraftctl.raft.named_endpoints import endpoints_of, why_unusable
from kraftctl_protocol.generated.add_raft_voter_request import Listener
from kraftctl_protocol.generated.end_quorum_epoch_request import LeaderEndpoint
from kraftctl_protocol.message import Message
from tests.support.simulator.cluster.raft_transcript import RaftTranscript
from tests.support.wire.raft_requests import REQUESTS

NAMELESS = ("", " ", "\0", "\t \x1f")
REQUESTED = {
    "add-voter": {"voter": "2"},
    "update-voter": {"voter": "1"},
    "begin-quorum-epoch": {"leader": "2", "epoch": "7"},
    "end-quorum-epoch": {"leader": "2", "epoch": "7"},
}


def transcript_for(what: str) -> RaftTranscript:
    """A leader for changes of voters, otherwise a voter that knows of no leader."""
    transcript = RaftTranscript()
    transcript.run(f"node id=1 voters={'1' if what.endswith('voter') else '1,2,3'} kraft-version=1")
    transcript.run("start")
    if what.endswith("voter"):
        transcript.run("flushed 3")
        transcript.run("fetch replica=2 epoch=1 offset=3")
    return transcript


def with_names(what: str, *names: str, **asked: str) -> tuple[Message, int]:
    request, version = REQUESTS[what](REQUESTED[what] | asked)
    named: list[Any] = getattr(request, "listeners" if what.endswith("voter") else "leader_endpoints")
    one = named[0] if named else LeaderEndpoint(host="host-2", port=9093)
    named[:] = [copy.copy(one) for _ in names]
    for each, name in zip(named, names, strict=True):
        each.name = name
    return request, version


def ask(what: str, *names: str) -> tuple[RaftTranscript, str]:
    """The replica afterwards, and what it printed: its response, if it answers."""
    transcript = transcript_for(what)
    with transcript.files.attach():
        transcript.replica.request(*with_names(what, *names), 1)
    return transcript, "\n".join(transcript.lines)


@pytest.mark.parametrize("name", NAMELESS)
@pytest.mark.parametrize("what", REQUESTED)
def test_a_nameless_listener_is_refused(what: str, name: str) -> None:
    transcript, printed = ask(what, "CONTROLLER", name)
    assert "error_code=INVALID_REQUEST" in printed
    assert transcript.node.epoch == (1 if what.endswith("voter") else 0)


@pytest.mark.parametrize("what", REQUESTED)
def test_names_are_compared_in_capitals(what: str) -> None:
    transcript, printed = ask(what, "controller")
    assert "INVALID_REQUEST" not in printed
    if not what.endswith("voter"):
        assert transcript.node.leader_endpoint("CONTROLLER") == ("host-2", 9093)


def test_the_last_endpoint_of_a_name_counts() -> None:
    named = [Listener(name=name, host=host, port=1) for name, host in [("A", "a"), ("b", "b"), ("a", "c")]]
    assert endpoints_of(named) == {"A": ("c", 1), "B": ("b", 1)}


def test_lengths_are_those_of_capitals() -> None:
    long = "\u0390" * (NAME_BYTES_MAX // 2)
    assert why_unusable([Listener(name=long, host="h", port=1)]) is not None


def test_none_is_usable() -> None:
    assert why_unusable([]) is None


@pytest.mark.parametrize("what", ["begin-quorum-epoch", "end-quorum-epoch"])
def test_a_leader_that_is_named_as_leader_stays_leader(what: str) -> None:
    """The process of Kafka's ends, if it has fewer endpoints (tests/interop/test_differences.py)."""
    transcript = transcript_for("add-voter")
    names = ("CONTROLLER", "OTHER", "THIRD")
    before = [transcript.node.leader_endpoint(name) for name in names]
    with transcript.files.attach():
        transcript.replica.request(*with_names(what, *names, leader="1", epoch="1"), 1)
    printed = "\n".join(transcript.lines)
    assert "leader_id=1" in printed, "it responds"
    assert "error_code" not in printed
    assert transcript.node.is_leader
    assert transcript.node.epoch == 1
    assert [transcript.node.leader_endpoint(name) for name in names] == before
