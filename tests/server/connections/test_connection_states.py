"""The states of a connection: what the table allows and refuses; real connections go no other way."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Callable
from typing import Any

import pytest

from kraftctl.server.connections import connection_states as states
from kraftctl.server.connections.connection import Connection
from kraftctl.server.connections.connection_states import EVENT_NAMES, STATE_NAMES, TRANSITIONS, next_state
from kraftctl.server.listeners import listener as listeners
from kraftctl.server.loop.request_turns import MUST_WAIT, URGENT
from kraftctl.server.security.sasl_connection import SaslConnection
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.create_topics_request import CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.message import Message
from tests.server.security.naming_servers import NamingServers
from tests.server.serving import Handler, both_loops, request_bytes, serving, unregister

END = (states.CLOSING, states.LOST)

STEPS_MIN, STEPS_MAX = 500, 20_000

REQUEST_STATES = range(states.LOST + 1)
PAIRS = [(state, event) for state in range(len(STATE_NAMES)) for event in range(len(EVENT_NAMES))]


def named(pair: tuple[int, int]) -> str:
    return f"{STATE_NAMES[pair[0]]}-{EVENT_NAMES[pair[1]]}"


@pytest.mark.parametrize("pair", PAIRS, ids=named)
def test_every_event_is_allowed_or_refused(pair: tuple[int, int]) -> None:
    state, event = pair
    following = TRANSITIONS[state].get(event)
    if following is None:
        with pytest.raises(AssertionError, match=f"{STATE_NAMES[state]} has no {EVENT_NAMES[event]}$"):
            next_state(state, event)
    else:
        assert next_state(state, event) == following


def test_the_table_keeps_the_promises_of_a_connection() -> None:
    """The sides are apart, what is closed serves nothing, and every connection can end."""
    for state, events in TRANSITIONS.items():
        assert all(
            (following in REQUEST_STATES) == (state in REQUEST_STATES) for following in events.values()
        )
        if state in REQUEST_STATES:
            assert state == states.LOST or (events[states.CLOSE], events[states.LOSE]) == END
        if state >= states.CLOSING and state in REQUEST_STATES:
            assert all(following >= state for following in events.values())
    starts = [state for state, events in TRANSITIONS.items() if states.START in events]
    assert starts == [states.IDLE], "one request at a time"


class Walked:
    """What the connections of a test did."""

    def __init__(self) -> None:
        self.connections: list[Connection] = []
        self.seen: set[tuple[int, int]] = set()
        self.refused: list[str] = []

    def change(self, state: int, event: int, change: Callable[[int], None]) -> None:
        try:
            change(event)
        except AssertionError as error:
            self.refused.append(str(error))
            raise
        self.seen.add((state, event))

    def classes(self) -> tuple[type[Connection], type[SaslConnection]]:
        """Connections that note what happens to them."""
        walked = self

        class WalkedConnection(Connection):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                walked.connections.append(self)
                super().connection_made(transport)

            def _on(self, event: int) -> None:
                walked.change(self._state, event, super()._on)

            def _on_flow(self, event: int) -> None:
                walked.change(self._flow, event, super()._on_flow)

        class WalkedSaslConnection(SaslConnection):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                walked.connections.append(self)
                super().connection_made(transport)

            def _on(self, event: int) -> None:
                walked.change(self._state, event, super()._on)

            def _on_flow(self, event: int) -> None:
                walked.change(self._flow, event, super()._on_flow)

        return WalkedConnection, WalkedSaslConnection


class Unsteady(Handler):
    """Begins, answers and sends when it likes; some responses are long, some close, some requests fail."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self.rng = rng
        self.later: list[Callable[[], None]] = []
        self.has_turn = False
        self.answer = self.any_response

    def any_response(self, request: Message) -> Message:
        if self.rng.random() < 0.03:
            raise KeyError("planted")
        if isinstance(request, CreateTopicsRequest):
            return CreateTopicsResponse(throttle_time_ms=self.rng.choice((0, 1, 200)))
        return UnregisterBrokerResponse(error_message="x" * self.rng.choice((0, 100, 5_000, 30_000)))

    def begin(self, frame: bytes) -> int:
        has_turn, self.has_turn = self.has_turn, False
        return URGENT if has_turn or self.rng.random() < 0.7 else MUST_WAIT

    def begin_later(self, address: bytes, call: Callable[[], None]) -> None:
        self.later.append(call)

    def must_respond_later(self, api_key: int) -> bool:
        return self.rng.random() < 0.5

    def respond_later(self, address: bytes, call: Callable[[], None]) -> None:
        self.later.append(call)

    def submit(self, *arguments: Any) -> int:
        self.holding = self.rng.random() < 0.5
        self.refusing = self.rng.random() < 0.02
        return super().submit(*arguments)

    def step(self) -> None:
        if self.later and self.rng.random() < 0.5:
            self.has_turn = True
            self.later.pop(self.rng.randrange(len(self.later)))()
            self.has_turn = False
        elif self.held:
            self.held.pop(self.rng.choice(list(self.held)))()


REQUEST = encode_frame(request_bytes(unregister(1), 0))

CHARGED = encode_frame(request_bytes(CreateTopicsRequest(), 5))

AUTHENTICATION = encode_frame(request_bytes(SaslHandshakeRequest("NAMING"), 1)) + encode_frame(
    request_bytes(SaslAuthenticateRequest(b"alice"), 2)
)


class Walk:
    """Clients that send and read what they like, and a server that closes some connections."""

    def __init__(self, rng: random.Random, port: int, greeting: bytes, walked: Walked) -> None:
        self._rng = rng
        self._port = port
        self._greeting = greeting
        self._walked = walked
        self._clients: list[socket.socket] = []

    async def step(self) -> None:
        await asyncio.sleep(0)
        if len(self._clients) < 3:
            await asyncio.gather(*(self._connect() for _ in range(4)))
        client = self._rng.choice(self._clients)
        actions = ("send", "cut", "many", "charged", "spent", "read", "rubbish", "leave", "close", "abort")
        action = self._rng.choices(actions, (8, 3, 3, 2, 2, 6, 1, 1, 1, 1))[0]
        try:
            if action in ("close", "abort"):
                open_ones = [each for each in self._walked.connections[-8:] if each._state != states.LOST]
                getattr(self._rng.choice(open_ones), action)()
            elif action == "leave":
                self._leave(client)
            elif action == "read":
                client.recv(1 << 16)
            else:
                position = self._rng.randrange(1, len(REQUEST))
                data = {
                    "send": REQUEST,
                    "cut": REQUEST[:position],
                    "many": REQUEST * 40,
                    "charged": CHARGED + REQUEST,
                    "spent": CHARGED,
                    "rubbish": b"\xff" * 8,
                }
                client.send(data[action])
                await asyncio.sleep(0)
                client.send(REQUEST[position:] if action == "cut" else b"")
        except (BlockingIOError, IndexError):
            pass
        except OSError:
            self._leave(client)

    async def _connect(self) -> None:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", self._port))
        client.send(self._greeting)
        self._clients.append(client)

    def _leave(self, client: socket.socket) -> None:
        self._clients.remove(client)
        client.close()

    def end(self) -> None:
        for client in self._clients:
            client.close()


NEVER = {(states.NEW, states.LOSE)}
"""The loops report the end of no connection that they have not reported before."""


@both_loops
@pytest.mark.parametrize("greeting", [b"", AUTHENTICATION], ids=["plaintext", "sasl"])
async def test_real_connections_go_no_other_way(greeting: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk ends when it has been wherever the table allows to go."""
    walked, rng = Walked(), random.Random(4)
    plain, sasl = walked.classes()
    monkeypatch.setattr(listeners, "Connection", plain)
    monkeypatch.setattr(listeners, "SaslConnection", sasl)
    properties = {"max.connections.per.ip": "5", "socket.send.buffer.bytes": "4096"}
    handler = Unsteady(rng)
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    async with serving(properties, handler) as (server, _):
        if greeting:
            (listener,) = server.listeners
            listener.sasl = server.security.sasl_listener(
                NamingServers(), over_ssl=False, receive_bytes_max=1 << 16
            )
        walk = Walk(rng, server.bound_ports["CONTROLLER"], greeting, walked)
        wanted = {(state, event) for state, events in TRANSITIONS.items() for event in events} - NEVER
        for step in range(STEPS_MAX):
            await walk.step()
            handler.step()
            if step > STEPS_MIN and wanted <= walked.seen:
                break
        walk.end()
    assert walked.refused == []
    assert sorted(map(named, wanted - walked.seen)) == []
    assert sorted(map(named, walked.seen - wanted)) == []
