"""Requests to other controllers over SASL: who does not accept this node is named, and not taken for dead."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from kraftctl.dev.ports import free_port
from kraftctl.server.peers import peers
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_security.sasl import client_exchange
from tests.clients.sasl_script import SECRET, Script, TwoSteps, sasl_script
from tests.server.peers.test_peers import Asker
from tests.server.serving import both_loops, unregister
from tests.support.wire.scripted_node import ScriptedNode

ANSWERED = UnregisterBrokerResponse(throttle_time_ms=7)
EXCHANGE = ["SaslHandshakeRequest", "SaslAuthenticateRequest", "SaslAuthenticateRequest"]
REQUEST = "UnregisterBrokerRequest"
WRONG = SECRET[:4] + "-word"


def node_of(script: Script) -> ScriptedNode:
    return ScriptedNode({**script, UnregisterBrokerRequest: lambda _: ANSWERED})


def asker_of(port: int, secret: str = SECRET) -> Asker:
    asker = Asker(port)
    asker.peers.new_sasl_client = lambda: TwoSteps(secret)
    return asker


def named(node: ScriptedNode) -> list[str]:
    return [request.NAME for request in node.requests]


@both_loops
async def test_a_connection_is_authenticated_before_its_first_request() -> None:
    async def test(node: ScriptedNode) -> None:
        asker = asker_of(node.port)
        for send_id in (1, 2):
            asker.ask(send_id, unregister(1))
            assert await asker.answer_to(send_id) == ANSWERED
        await asker.peers.stop()

    with node_of(sasl_script()) as node:
        await test(node)
    assert named(node) == [*EXCHANGE, REQUEST, REQUEST]


async def test_a_session_is_renewed_before_the_request_that_follows_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """KIP-368, over the same connection."""
    monkeypatch.setattr(client_exchange, "SESSION_SECONDS_MIN", 0.0)

    async def test(node: ScriptedNode) -> None:
        asker = asker_of(node.port)
        for send_id in (1, 2):
            asker.ask(send_id, unregister(1))
            assert await asker.answer_to(send_id) == ANSWERED
            await asyncio.sleep(0.005)  # until the session has expired
        await asker.peers.stop()

    with node_of(sasl_script(lifetime_ms=1)) as node:
        await test(node)
    assert named(node) == [*EXCHANGE, REQUEST, *EXCHANGE, REQUEST]


async def test_a_wrong_password_is_named_with_the_next_step_and_not_taken_for_a_dead_node(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also when the node could not be reached before; and the line is not repeated with each attempt."""
    caplog.set_level(logging.INFO, "kraftctl.server.peers")

    async def test(node: ScriptedNode, port: int) -> None:
        asker = asker_of(port, WRONG)
        asker.ask(1, unregister(1))
        assert await asker.answer_to(1) is None
        assert asker.refused == {1}
        destination = asker.peers._destinations[(asker.host, port, False)]
        destination._port = node.port
        for send_id in (2, 3, 4):
            asker.ask(send_id, unregister(1))
            assert await asker.answer_to(send_id) is None
        assert asker.refused == {1}
        await asker.peers.stop()

    with node_of(sasl_script()) as node:
        await test(node, free_port())
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert f"the controller at 127.0.0.1:{node.port} do not accept each other" in warnings[0]
    assert "refused with SASL_AUTHENTICATION_FAILED: Authentication failed. Next step: check" in warnings[0]
    assert "check sasl.jaas.config of the listener" in warnings[0]
    assert WRONG not in caplog.text
    assert REQUEST not in named(node)
    assert named(node).count("SaslHandshakeRequest") == 3


async def test_the_line_is_repeated_while_nothing_changes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(peers, "WARNING_SECONDS", 0.0)

    async def test(node: ScriptedNode) -> None:
        asker = asker_of(node.port, WRONG)
        for send_id in (1, 2):
            asker.ask(send_id, unregister(1))
            assert await asker.answer_to(send_id) is None
        await asker.peers.stop()

    with node_of(sasl_script()) as node:
        await test(node)
    assert len([record for record in caplog.records if record.levelno == logging.WARNING]) == 2


@pytest.mark.parametrize("kind", [SaslHandshakeRequest, SaslAuthenticateRequest])
async def test_a_node_that_closes_during_the_exchange_is_not_dead(
    kind: type[SaslHandshakeRequest] | type[SaslAuthenticateRequest],
) -> None:
    """As one does that has not read its users yet: it lives, and an election would change nothing."""

    async def test(node: ScriptedNode) -> None:
        asker = asker_of(node.port)
        asker.ask(1, unregister(1))
        assert await asker.answer_to(1) is None
        assert asker.refused == set()
        node.script.update(sasl_script())
        asker.ask(2, unregister(1))
        assert await asker.answer_to(2) == ANSWERED
        await asker.peers.stop()

    with node_of(sasl_script() | {kind: lambda _: None}) as node:
        await test(node)


@both_loops
async def test_a_mechanism_that_computes_does_not_stop_the_loop() -> None:
    """Nor one that waits for a token."""
    evaluated, reached = threading.Event(), threading.Event()

    class Slow(TwoSteps):
        def evaluate(self, challenge: bytes) -> bytes | None:
            evaluated.set()
            assert reached.wait(5.0)
            return super().evaluate(challenge)

    async def test(node: ScriptedNode) -> None:
        asker = asker_of(node.port)
        asker.peers.new_sasl_client = Slow
        asker.peers.request_timeout_seconds = 10.0
        asker.ask(1, unregister(1))
        while not evaluated.is_set():
            await asyncio.sleep(0)
        reached.set()
        assert await asker.answer_to(1) == ANSWERED
        await asker.peers.stop()

    with node_of(sasl_script()) as node:
        await test(node)
