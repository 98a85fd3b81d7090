"""Requests to other controllers: each is answered once, in a version both know, or with None in time."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from kraftctl.dev.ports import free_port
from kraftctl.raft.effects import ANY_EPOCH, SendRequest
from kraftctl.raft.events import ResponseReceived
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.peers.peers import DESTINATIONS_MAX, PeerConnections
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.generated.vote_request import PartitionData, TopicData, VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.message import Message
from kraftctl_security import peer_codec
from tests.server.serving import Handler, both_loops, serving, unregister

VOTE = VoteRequest.API_KEY
TIMEOUT_MS = 300
LONG_MS = 20_000


class Asker:
    """Takes the driver's place."""

    def __init__(
        self, port: int, ssl_context: ssl.SSLContext | None = None, timeout_ms: int = TIMEOUT_MS
    ) -> None:
        self.host = "127.0.0.1"
        self.port = port
        self.answers: dict[int, Message | None] = {}
        self.refused: set[int] = set()
        self.epoch: Callable[[], int] = lambda: 0
        self.changed = asyncio.Event()
        self.peers = PeerConnections(
            client_id="raft-client-1",
            request_timeout_ms=timeout_ms,
            backoff_ms=10,
            offer=self.take,
            ssl_context=ssl_context,
            epoch=lambda: self.epoch(),
        )

    def take(self, event: ResponseReceived) -> None:
        assert event.send_id not in self.answers, "a question is answered once"
        self.answers[event.send_id] = event.response
        if event.refused:
            self.refused.add(event.send_id)
        self.changed.set()

    def ask(self, send_id: int, request: Message, epoch: int = ANY_EPOCH) -> None:
        self.peers.send(SendRequest(send_id, 2, self.host, self.port, request.API_KEY, request, epoch))

    async def answer_to(self, send_id: int) -> Message | None:
        while send_id not in self.answers:
            self.changed.clear()
            await self.changed.wait()
        return self.answers[send_id]


@asynccontextmanager
async def asking(
    vote_version_max: int = 2, timeout_ms: int = TIMEOUT_MS
) -> AsyncIterator[tuple[Asker, SocketServer, Handler]]:
    """A peer that knows Vote up to this version, UnregisterBroker, and no other API."""

    def answer(request: Message) -> Message:
        if isinstance(request, ApiVersionsRequest):
            known = [(18, 4), (64, 0), (VOTE, vote_version_max)]
            return ApiVersionsResponse(
                api_keys=[ApiVersion(api_key=key, min_version=0, max_version=high) for key, high in known]
            )
        if isinstance(request, VoteRequest):
            return VoteResponse()
        assert isinstance(request, UnregisterBrokerRequest)
        return UnregisterBrokerResponse(throttle_time_ms=request.broker_id)

    async with serving() as (server, handler):
        handler.answer = answer
        asker = Asker(server.bound_ports["CONTROLLER"], timeout_ms=timeout_ms)
        try:
            yield asker, server, handler
        finally:
            await asker.peers.stop()


def vote(*, pre_vote: bool) -> VoteRequest:
    return VoteRequest(topics=[TopicData("__cluster_metadata", [PartitionData(pre_vote=pre_vote)])])


@both_loops
async def test_versions_are_requested_once_and_requests_answered_in_order() -> None:
    async with asking() as (asker, _, handler):
        for send_id in range(1, 6):
            asker.ask(send_id, unregister(send_id))
        for send_id in range(1, 6):
            response = await asker.answer_to(send_id)
            assert isinstance(response, UnregisterBrokerResponse)
            assert response.throttle_time_ms == send_id
        asked = [type(request).__name__ for request in handler.requests]
        assert asked == ["ApiVersionsRequest"] + ["UnregisterBrokerRequest"] * 5
        assert {context.client_id for context in handler.contexts} == {"raft-client-1"}


@pytest.mark.parametrize(("epoch", "is_sent"), [(ANY_EPOCH, True), (6, False), (7, True)])
async def test_what_waits_while_a_later_epoch_is_joined_is_not_sent(epoch: int, *, is_sent: bool) -> None:
    """The Fetch of an earlier epoch would confirm a leader that others have replaced since."""
    async with asking(timeout_ms=LONG_MS) as (asker, _, handler):
        asker.epoch = lambda: 6 + len(asker.answers)  # It joins epoch 7 with the first response.
        asker.ask(1, unregister(1), 6)
        asker.ask(2, unregister(2), epoch)
        assert await asker.answer_to(1) is not None
        assert (await asker.answer_to(2) is not None) == is_sent
        sent = [request.broker_id for request in handler.requests if hasattr(request, "broker_id")]
        assert sent == [1, 2][: 1 + is_sent]


async def test_the_highest_common_version_is_used() -> None:
    async with asking(vote_version_max=1) as (asker, _, handler):
        asker.ask(1, vote(pre_vote=False))
        assert isinstance(await asker.answer_to(1), VoteResponse)
        assert handler.contexts[-1].version == 1


async def test_a_request_that_the_peer_does_not_know_is_not_sent() -> None:
    """KIP-996: an older controller knows no pre-votes; this one does not know Fetch either."""
    async with asking(vote_version_max=1) as (asker, _, handler):
        asker.ask(1, vote(pre_vote=True))
        asker.ask(2, FetchRequest())
        for send_id in (1, 2):
            response = await asker.answer_to(send_id)
            assert response is not None
            assert response.error_code == Errors.UNSUPPORTED_VERSION
        assert [type(request).__name__ for request in handler.requests] == ["ApiVersionsRequest"]
        asker.ask(3, vote(pre_vote=False))
        assert await asker.answer_to(3) == VoteResponse()


@both_loops
async def test_no_peer_listens() -> None:
    asker = Asker(free_port())
    asker.ask(1, vote(pre_vote=True))
    assert await asker.answer_to(1) is None
    asker.ask(2, vote(pre_vote=True))
    assert await asker.answer_to(2) is None
    asker.host = "localhost"  # of two addresses, perhaps
    asker.ask(3, vote(pre_vote=True))
    assert await asker.answer_to(3) is None
    assert asker.refused == {1, 2, 3}
    await asker.peers.stop()


@both_loops
async def test_a_connection_that_is_closed_before_an_answer_is_refused() -> None:
    """By a process that ends, or by a proxy in front of none."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1")
    asker = Asker(server.sockets[0].getsockname()[1])
    asker.ask(1, vote(pre_vote=True))
    assert await asker.answer_to(1) is None
    assert asker.refused == {1}
    await asker.peers.stop()
    server.close()


async def test_a_silent_peer_times_out_and_is_retried_over_a_new_connection() -> None:
    async with asking() as (asker, _, handler):
        asker.ask(1, vote(pre_vote=True))
        await asker.answer_to(1)
        handler.holding = True
        asker.ask(2, vote(pre_vote=True))
        assert await asker.answer_to(2) is None
        handler.holding = False
        asker.ask(3, vote(pre_vote=True))
        assert await asker.answer_to(3) == VoteResponse()
        asked = [type(request).__name__ for request in handler.requests]
        assert asked.count("ApiVersionsRequest") == 2
        assert not asker.refused


@pytest.mark.prevents("backoff-without-end")
async def test_requests_that_wait_for_a_connection_do_not_prolong_the_backoff() -> None:
    """They come faster than the backoff ends, and each in turn is too late: a voter was never heard again."""
    async with asking() as (asker, _, handler):
        handler.holding = True
        for send_id in range(400):
            asker.ask(send_id, vote(pre_vote=True))
            await asyncio.sleep(0.01)
            if any(asker.answers.values()):
                return
            if asker.answers:
                handler.holding = False  # from now on it answers whatever reaches it
        pytest.fail("no request was sent any more")


async def test_what_waits_for_a_commit_does_not_stop_raft() -> None:
    """A leader answers a registration after followers have fetched its record over the other connection."""
    async with asking() as (asker, _, handler):
        asker.ask(1, vote(pre_vote=True))
        asker.ask(2, unregister(2))
        await asker.answer_to(1)
        await asker.answer_to(2)
        handler.holding = True
        asker.ask(3, unregister(3))
        await handler.until(lambda: len(handler.held) == 1)
        handler.holding = False
        asker.ask(4, vote(pre_vote=True))
        assert await asker.answer_to(4) == VoteResponse()
        assert 3 not in asker.answers
        handler.release()
        assert await asker.answer_to(3) is not None


async def test_a_closed_connection_is_opened_again() -> None:
    async with asking() as (asker, server, _):
        asker.ask(1, vote(pre_vote=True))
        await asker.answer_to(1)
        for connection in list(server.accounts.connections):
            connection.abort()
        asker.ask(2, vote(pre_vote=True))
        await asker.answer_to(2)
        asker.ask(3, vote(pre_vote=True))
        assert await asker.answer_to(3) == VoteResponse()


async def test_nothing_is_answered_after_stop() -> None:
    async with asking() as (asker, _, handler):
        handler.holding = True
        asker.ask(1, vote(pre_vote=True))
        asker.ask(2, vote(pre_vote=True))
        await handler.until(lambda: len(handler.held) == 1)
        await asker.peers.stop()
        assert asker.answers == {}


async def test_a_peer_that_triggers_a_bug_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug in reading a response must not stop requests to its address."""

    def broken(payload: bytes, api_key: int, version: int) -> tuple[int, Message]:
        raise KeyError(api_key)

    async with asking() as (asker, _, _):
        monkeypatch.setattr(peer_codec, "decode_response", broken)
        asker.ask(1, unregister(1))
        assert await asker.answer_to(1) is None
        monkeypatch.undo()
        asker.ask(2, unregister(2))
        assert isinstance(await asker.answer_to(2), UnregisterBrokerResponse)


async def ask_former_addresses(asker: Asker, first_id: int) -> None:
    """As many requests as there are destinations, each to another address, where no process listens."""
    port = free_port()
    for send_id in range(first_id, first_id + DESTINATIONS_MAX):
        request = unregister(send_id)
        host = f"127.0.1.{1 + send_id - first_id}"
        asker.peers.send(SendRequest(send_id, 2, host, port, request.API_KEY, request))
        await asker.answer_to(send_id)
    assert asker.refused >= set(range(first_id, first_id + DESTINATIONS_MAX))
    assert len(asker.peers._destinations) == DESTINATIONS_MAX


@both_loops
async def test_addresses_that_are_used_no_more_are_forgotten_with_their_connections() -> None:
    """A controller that moves again and again has left a connection at each address."""
    async with asking(timeout_ms=LONG_MS) as (asker, _, handler):
        for send_id in (1, 1_001, 2_001):
            asker.ask(send_id, unregister(1))
            assert await asker.answer_to(send_id) is not None
            await ask_former_addresses(asker, send_id + 1)
        opened = [request for request in handler.requests if isinstance(request, ApiVersionsRequest)]
        assert len(opened) == 3


@both_loops
async def test_an_address_with_a_request_under_way_is_not_forgotten() -> None:
    async with asking(timeout_ms=LONG_MS) as (asker, _, handler):
        asker.ask(1, unregister(1))
        await asker.answer_to(1)
        handler.holding = True
        asker.ask(2, unregister(2))
        await ask_former_addresses(asker, 1_001)
        await handler.until(lambda: bool(handler.held))
        handler.holding = False
        handler.release()
        assert await asker.answer_to(2) is not None
        opened = [request for request in handler.requests if isinstance(request, ApiVersionsRequest)]
        assert len(opened) == 1
