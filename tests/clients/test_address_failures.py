"""What is said, remembered and reported when addresses of a name fail."""

from __future__ import annotations

import logging
import re
import socket
import time
from collections.abc import Callable
from itertools import pairwise

import pytest

from kraftctl.raft.effects import SendRequest
from kraftctl.server.peers import connecting, peers
from kraftctl.server.process.clock import Clock
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.client_config import ClientConfig
from kraftctl_admin.errors import UnavailableError
from kraftctl_observer.log_reader import ObserverError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
)
from kraftctl_protocol.generated.fetch_response import PartitionData as FetchedPartition
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC_ID
from tests.clients.situation import (
    ANSWERED,
    CLUSTER,
    PLAINTEXT,
    SASL,
    SSL,
    Situation,
    admin_of,
    asker_of,
    observer_of,
)
from tests.server.peers.test_peers import Asker
from tests.server.security.ssl_serving import identity, serving_ssl
from tests.server.serving import both_loops, run, serving, unregister
from tests.support.wire.bad_addresses import NAME, OTHER_V4, V4, V6

Situations = Callable[[str], Situation]

BAD = [V4, V6, OTHER_V4]


async def ask(asker: Asker, send_id: int) -> Message | None:
    asker.ask(send_id, unregister(1))
    return await asker.answer_to(send_id)


def refused_by(there: Situation, timeout_ms: int = 300) -> bool:
    """Whether a request was reported as refused, which begins an election (KIP-996)."""
    refused: set[int] = set()

    async def test() -> None:
        asker = asker_of(there, timeout_ms)
        assert await ask(asker, 1) is None
        refused.update(asker.refused)
        await asker.peers.stop()

    run(test)
    return refused == {1}


REFUSALS = [
    pytest.param(PLAINTEXT, ["refuses", "refuses"], True, id="all-refuse"),
    pytest.param(PLAINTEXT, ["refuses", "closes", "resets"], True, id="closed-or-reset-before-an-answer"),
    pytest.param(SSL, ["refuses", "closes", "resets"], True, id="closed-or-reset-during-the-handshake"),
    pytest.param(PLAINTEXT, ["refuses", "silent"], False, id="one-is-silent"),
    pytest.param(PLAINTEXT, ["silent", "refuses"], False, id="the-first-is-silent"),
    pytest.param(PLAINTEXT, ["refuses", "drops"], False, id="one-drops"),
    pytest.param(PLAINTEXT, ["refuses", "garbage"], False, id="one-is-no-controller"),
    pytest.param(PLAINTEXT, ["refuses", "ssl-alert"], False, id="one-has-ssl"),
    pytest.param(SSL, ["refuses", "another-authority"], False, id="one-is-not-trusted"),
    pytest.param(SSL, ["refuses", "shakes-hands-only"], False, id="one-shakes-hands"),
    pytest.param(PLAINTEXT, ["refuses", "answers-only-versions"], False, id="one-answers-versions"),
    pytest.param(SASL, ["refuses", "no-answer-to-sasl"], False, id="one-does-not-answer-sasl"),
]


@pytest.mark.parametrize(("protocol", "kinds", "is_refused"), REFUSALS)
def test_a_name_refuses_only_if_each_address_does(
    protocol: str, kinds: list[str], is_refused: bool, situation: Situations
) -> None:
    there = situation(protocol)
    there.names.addresses[NAME] = BAD[: len(kinds)]
    for kind, address in zip(kinds, BAD, strict=False):
        there.spoil(kind, address)
    assert refused_by(there, 5_000 if is_refused else 300) == is_refused


def test_an_address_that_cannot_be_tried_does_not_refuse(situation: Situations) -> None:
    """As IPv6 without a route."""
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4, "2001:db8::1"]
    assert not refused_by(there)


def test_more_addresses_than_are_tried_do_not_refuse(situation: Situations) -> None:
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [f"127.0.1.{number}" for number in range(1, 101)]
    assert not refused_by(there, 2_000)


@both_loops("compiled")
async def test_a_controller_does_not_ask_itself_when_its_name_has_others(situation: Situations) -> None:
    """As of a name that has the addresses of all controllers. Its own address refuses nothing, either."""
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4, V6]
    own = there.good(V4)
    asker = asker_of(there)
    asker.peers.is_own = lambda host, port: (host, port) == (V4, there.port)
    assert await ask(asker, 1) is None
    assert await ask(asker, 2) is None
    assert not asker.refused
    with there.node(V6):
        assert await ask(asker, 3) == ANSWERED
    there.names.addresses[NAME] = [V4]
    disconnect(asker)
    assert await ask(asker, 4) == ANSWERED
    assert len(own.requests) == 1
    await asker.peers.stop()


async def test_a_server_knows_where_it_listens() -> None:
    for host, own, others in (
        ("127.0.0.1", ["127.0.0.1"], ["127.0.0.2", "::1"]),
        ("0.0.0.0", ["127.0.0.1", "10.1.2.3"], ["::1"]),
        ("[::1]", ["::1"], ["127.0.0.1"]),
        ("", ["127.0.0.1", "::1"], []),
    ):
        async with serving({"listeners": f"CONTROLLER://{host}:0"}) as (server, _):
            port = server.bound_ports["CONTROLLER"]
            assert all(server.listens_at(each, port) for each in own)
            assert not any(server.listens_at(each, port) for each in others)
            assert not server.listens_at(own[0], port + 1)


@pytest.mark.parametrize("protocol", [PLAINTEXT, SSL])
async def test_the_one_that_was_slow_is_left_without_a_word(
    protocol: str, situation: Situations, caplog: pytest.LogCaptureFixture
) -> None:
    """It is a controller, too; its response comes when another was faster."""
    caplog.set_level(logging.INFO)
    there = situation(protocol)
    properties = {"listeners": f"CONTROLLER://{V4}:{there.port}"}
    own = identity("CN=slow", hosts=(NAME,))
    slow = serving(properties) if protocol == PLAINTEXT else serving_ssl(properties, own)
    async with slow as (server, handler):
        handler.holding = True
        there.names.addresses[NAME] = [V4, V6]
        with there.node(V6):
            asker = asker_of(there)
            caplog.clear()
            assert await ask(asker, 1) == ANSWERED
            await handler.until(lambda: not server.accounts.connections)
            for _ in range(len(handler.held)):
                handler.release()
            assert await ask(asker, 2) == ANSWERED
            await asker.peers.stop()
    assert [record.getMessage() for record in caplog.records] == []


async def test_what_was_silent_is_remembered_by_each_client(situation: Situations) -> None:
    """Also over later connections: the address is not tried again while another serves."""
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4, V6]
    there.spoil("silent", V4)
    (bad,) = there.bad
    there.good(V6)

    async def controller() -> None:
        asker = asker_of(there)
        for send_id in range(6):
            assert await ask(asker, send_id) == ANSWERED
            disconnect(asker)
        await asker.peers.stop()

    await controller()
    assert bad.accepted_count == 1
    with admin_of(there) as admin:
        for _ in range(3):
            assert admin.cluster_id() == "c1"
            admin.close()
    assert bad.accepted_count == 2
    observer = observer_of(there)
    for _ in range(3):
        assert observer._ask_cluster_id() == "c1"
        observer.close()
    assert bad.accepted_count == 3


@pytest.mark.parametrize("client", ["cli", "exporter"])
def test_the_next_address_is_tried_beside_one_that_is_silent(client: str, situation: Situations) -> None:
    """With Kafka's default timeouts, of half a minute, and those of the exporter."""
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4, V6]
    there.spoil("silent", V4)
    there.good(V6)
    began_at = time.monotonic()
    if client == "cli":
        with admin_of(there, timeout_ms=60_000, request_timeout_ms=30_000) as admin:
            assert admin.cluster_id() == "c1"
    else:
        observer = observer_of(there, 60.0)
        assert observer.cluster_id() == "c1"
        observer.close()
    assert time.monotonic() - began_at < 10.0


def not_leading() -> Message:
    partition = FetchedPartition(
        error_code=Errors.NOT_LEADER_OR_FOLLOWER, current_leader=LeaderIdAndEpoch(-1, 3)
    )
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[partition])
    return FetchResponse(responses=[topic])


async def test_a_bootstrap_name_of_all_controllers_is_asked_at_each_address(
    situation: Situations, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that join would ask each other for ever, and never the third one, which leads."""
    monkeypatch.setattr(peers, "USELESS_SECONDS", 0.0)
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4, V6]
    joining = there.good(V4, {FetchRequest: lambda _: not_leading()})
    leader = there.good(V6, {FetchRequest: lambda _: FetchResponse()})

    async def controller() -> None:
        asker = asker_of(there)
        for send_id, destination_id in enumerate([-2, -2, -2, 7]):
            request = FetchRequest()
            effect = SendRequest(send_id, destination_id, NAME, there.port, request.API_KEY, request)
            asker.peers.send(effect)
            assert await asker.answer_to(send_id) is not None
        await asker.peers.stop()

    await controller()
    assert (len(joining.requests), len(leader.requests)) == (1, 3)


async def test_a_voter_that_knows_no_leader_is_asked_again_at_its_address(situation: Situations) -> None:
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4, V6]
    voter = there.good(V4, {FetchRequest: lambda _: not_leading()})
    there.good(V6)

    async def controller() -> None:
        asker = asker_of(there)
        for send_id in range(3):
            request = FetchRequest()
            asker.peers.send(SendRequest(send_id, 2, NAME, there.port, request.API_KEY, request))
            assert await asker.answer_to(send_id) is not None
        await asker.peers.stop()

    await controller()
    assert len(voter.requests) == 3


def test_blocking_clients_ask_each_address_for_the_leader(situation: Situations) -> None:
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4, V6]
    refused = DescribeClusterResponse(error_code=Errors.NOT_CONTROLLER)
    there.good(V4, {DescribeClusterRequest: lambda _: refused, FetchRequest: lambda _: not_leading()})
    fetched = FetchedPartition(high_watermark=9, current_leader=LeaderIdAndEpoch(1, 3), records=b"")
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[fetched])
    response = FetchResponse(responses=[topic])
    there.good(V6, {DescribeClusterRequest: lambda _: CLUSTER, FetchRequest: lambda _: response})
    with admin_of(there) as admin:
        assert admin.cluster_id() == "c1"
    observer = observer_of(there)
    assert observer.position(0, 0).high_watermark == 9
    observer.close()


ALL_BAD = [
    (PLAINTEXT, "refuses", r"\[Errno 111\].*"),
    (PLAINTEXT, "drops", "no connection was accepted within .* s"),
    (PLAINTEXT, "silent", "a connection was accepted, but ApiVersions was not answered within .* s"),
    (PLAINTEXT, "closes", "closed before a response|the node has closed the connection|.* reset by peer"),
    (PLAINTEXT, "ssl-alert", "the node answers with SSL"),
    (SSL, "silent", "a connection was accepted, but SSL did not begin within .* s"),
    (SSL, "another-name", "SSL: certificate verify failed: Hostname mismatch.*"),
]


@pytest.mark.parametrize(
    ("first", "second"),
    [pytest.param(a, b, id=f"{a[1]}-{b[1]}") for a, b in pairwise(ALL_BAD) if a[0] == b[0]],
)
@pytest.mark.parametrize("client", ["peer", "cli", "exporter"])
def test_each_address_is_named_with_its_reason(
    client: str,
    first: tuple[str, str, str],
    second: tuple[str, str, str],
    situation: Situations,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "kraftctl.server.peers")
    there = situation(first[0])
    there.names.addresses[NAME] = [V4, V6]
    there.spoil(first[1], V4)
    there.spoil(second[1], V6)
    text = text_of(client, there, caplog)
    pattern = f"127.0.0.1: ({first[2]}); ::1: ({second[2]})"
    assert re.search(pattern, text), text


def text_of(client: str, there: Situation, caplog: pytest.LogCaptureFixture) -> str:
    """The error, when no address is of use."""
    if client == "peer":

        async def controller() -> None:
            asker = asker_of(there, 500)
            assert await ask(asker, 1) is None
            await asker.peers.stop()

        run(controller)
        (record,) = [each for each in caplog.records if each.name == "kraftctl.server.peers"]
        return record.getMessage()
    if client == "cli":
        with admin_of(there, timeout_ms=500) as admin, pytest.raises(UnavailableError) as failed:
            admin.cluster_id()
        return str(failed.value)
    observer = observer_of(there, 0.5)
    with pytest.raises(ObserverError) as unavailable:
        observer.cluster_id()
    return str(unavailable.value)


@pytest.mark.parametrize("client", ["peer", "cli", "exporter"])
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "Name or service not known"),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), "Temporary failure"),
        (None, "several.example has no address"),
        (TimeoutError(), "no name server has said within .* s which address several.example has"),
    ],
    ids=["no-such-name", "no-answer-of-the-server", "no-address", "a-resolver-that-hangs"],
)
def test_a_name_that_is_not_resolved_is_named(
    client: str,
    error: OSError | None,
    reason: str,
    situation: Situations,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "kraftctl.server.peers")
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = []
    if isinstance(error, TimeoutError):
        there.names.holds.clear()
    elif error is not None:
        there.names.errors[NAME] = error
    text = text_of(client, there, caplog)
    there.names.holds.set()
    assert re.search(reason, text), text


@pytest.mark.parametrize("host", ["a..b", "a" * 64, "b\N{LATIN SMALL LETTER SHARP S}" + "c" * 300])
def test_what_is_no_name_of_a_host_is_an_error_as_others(host: str) -> None:
    config = ClientConfig(default_api_timeout_ms=200)
    with AdminClient([(host, 1)], to_controllers=False, config=config, clock=Clock()) as admin:
        with pytest.raises(UnavailableError, match="is no name of a host"):
            admin.cluster_id()


async def test_another_address_answers_sasl_in_the_same_attempt(
    situation: Situations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "SASL_SECONDS_MAX", 0.05)
    there = situation(SASL)
    there.names.addresses[NAME] = [V4, V6]
    there.spoil("no-answer-to-sasl", V4)
    there.good(V6)

    async def controller() -> None:
        asker = asker_of(there)
        assert await ask(asker, 1) == ANSWERED
        await asker.peers.stop()

    await controller()


async def test_one_lookup_at_a_time_and_its_late_answer_is_used(situation: Situations) -> None:
    """A resolver that hangs is not asked by every attempt: each would keep a thread."""
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4]
    there.names.holds.clear()
    there.good(V4)

    async def controller() -> None:
        asker = asker_of(there, 100)
        for send_id in range(3):
            assert await ask(asker, send_id) is None
        assert len(there.names.asked) == 1
        there.names.holds.set()
        while await ask(asker, 10 + len(asker.answers)) is None:
            pass
        assert len(there.names.asked) == 1
        await asker.peers.stop()

    await controller()


async def test_a_resolver_that_fails_does_not_take_away_what_is_known(
    situation: Situations, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4]
    node = there.good(V4)
    monkeypatch.setattr(connecting, "LOOKUP_SECONDS_MAX", 0.05)

    async def controller() -> None:
        asker = asker_of(there)
        assert await ask(asker, 1) == ANSWERED
        there.names.errors[NAME] = socket.gaierror(socket.EAI_AGAIN, "Temporary failure")
        disconnect(asker)
        assert await ask(asker, 2) == ANSWERED
        there.names.holds.clear()
        disconnect(asker)
        assert await ask(asker, 3) == ANSWERED
        assert len(node.requests) == 3
        await asker.peers.stop()

    await controller()


async def test_a_name_may_have_other_addresses_later(situation: Situations) -> None:
    """As of a pod that was started again: the former address is that of another one by then."""
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4]
    former = there.good(V4)
    present = there.good(OTHER_V4)

    async def controller() -> None:
        asker = asker_of(there)
        assert await ask(asker, 1) == ANSWERED
        there.names.addresses[NAME] = [OTHER_V4]
        disconnect(asker)
        assert await ask(asker, 2) == ANSWERED
        await asker.peers.stop()

    await controller()
    assert (len(former.requests), len(present.requests)) == (1, 1)


async def test_what_breaks_later_is_left_for_another_address(situation: Situations) -> None:
    """A connection that has served may become silent, as behind a firewall that forgets it."""
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4, V6]
    first = there.good(V4)
    second = there.good(V6)

    async def controller() -> None:
        asker = asker_of(there, 300)
        assert await ask(asker, 1) == ANSWERED
        there.silence(first)
        assert await ask(asker, 2) is None
        assert await ask(asker, 3) == ANSWERED
        await asker.peers.stop()

    await controller()
    assert (len(first.requests), len(second.requests)) == (2, 1)


def disconnect(asker: Asker) -> None:
    for destination in asker.peers._destinations.values():
        destination._disconnect()
