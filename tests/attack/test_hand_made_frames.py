"""The attacker's frames, made by hand, are requests to a controller: none is refused as another API's."""

from __future__ import annotations

import pytest

from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.requests import decode_request
from tests.attack import frames
from tests.attack.dense_bodies import DENSE, names_to_delete, tags
from tests.attack.frames import compact
from tests.attack.run import Measured


@pytest.mark.parametrize("name", DENSE)
def test_a_dense_body_is_one_request(name: str) -> None:
    parsed = decode_request(DENSE[name](600))
    assert f"{name.partition(',')[0]}Request" == parsed.body.NAME
    assert parsed.header.client_id == "a-client"


def test_the_other_requests_are_read_as_they_were_meant() -> None:
    fetch = decode_request(frames.metadata_fetch(7, 42, max_wait_ms=5)).body
    assert isinstance(fetch, FetchRequest)
    partition = fetch.topics[0].partitions[0]
    assert (fetch.max_wait_ms, partition.current_leader_epoch, partition.fetch_offset) == (5, 7, 42)
    vote = decode_request(frames.vote(3000, 9)).body
    assert isinstance(vote, VoteRequest)
    assert vote.topics[0].partitions[0].replica_epoch == 9
    listeners = [frames.listener(b"A", b"h"), frames.listener(b"B", b"h" * 300)]
    registered = decode_request(frames.registration("cluster", 4, b"\1" * 16, listeners=listeners)).body
    assert isinstance(registered, BrokerRegistrationRequest)
    assert [len(listener.host) for listener in registered.listeners] == [1, 300]
    for payload in (
        frames.heartbeat(1, 2, 3),
        frames.config_change([(b"a", frames.APPEND, b"b")]),
        frames.new_acls([frames.acl(frames.TOPIC, b"t", b"*", frames.ALL)]),
        frames.envelope(frames.heartbeat(1, 2, 3)),
        frames.request(frames.API_VERSIONS, 3, compact(b"a") + compact(b"1") + tags(1000)),
        frames.request(frames.API_VERSIONS, 3, compact(b"a") + compact(b"1") + b"\0", tags=tags(1000)),
        names_to_delete(3),
    ):
        decode_request(payload)


SOUND = Measured(
    attack="nothing",
    authorizer=False,
    heartbeat_ms=20.0,
    memory_mb=60.0,
    large_served=2,
    large_lost=0,
    large_refused=0,
    large_ms=5.0,
    refused_heartbeats=0,
    lost_connections=0,
    leadership_taken=False,
    ended=False,
    note="",
)


@pytest.mark.parametrize(
    ("changed", "failures"),
    [
        pytest.param({}, 0, id="withstood"),
        pytest.param({"heartbeat_ms": 101.0}, 1, id="a-heartbeat-waits"),
        pytest.param({"memory_mb": 513.0}, 1, id="memory"),
        pytest.param({"large_served": 0}, 1, id="nothing-served"),
        pytest.param({"large_lost": 1}, 1, id="a-large-request-lost"),
        pytest.param({"large_refused": 1}, 1, id="a-large-request-refused"),
        pytest.param({"large_refused": 1, "leadership_taken": True}, 0, id="refused-by-no-leader"),
        pytest.param({"lost_connections": 1}, 1, id="a-broker-was-cut-off"),
        pytest.param({"ended": True}, 1, id="the-process-ended"),
    ],
)
def test_each_limit_fails_the_attack(changed: dict[str, object], failures: int) -> None:
    measured = Measured(**{**vars(SOUND), **changed})
    assert len(measured.failures(100.0)) == failures
