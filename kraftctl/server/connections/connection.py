"""One client's connection: bytes to requests, responses back in request order, one request at a time.

As in Kafka's SocketServer, the next request of a connection is not processed before the previous one is
answered. Small responses of one turn leave together, 4 KiB at most. A request that cannot be decoded, or is
not in `API_TABLE`, ends the connection, except an ApiVersions request of a version from the future (KIP-511).
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Final, Protocol, cast

from mypy_extensions import mypyc_attr

from kraftctl.controller.results.failures import reason_of
from kraftctl.node.request_outcomes import Answer, Close
from kraftctl.server.connections import connection_states as states
from kraftctl.server.connections.byte_budget import ByteBudget
from kraftctl.server.connections.client_address import client_of
from kraftctl.server.connections.connection_logs import ConnectionLogs
from kraftctl.server.connections.encoded_response import encoded_response
from kraftctl.server.connections.foreign_clients import why_foreign, why_no_sasl, why_not_ssl
from kraftctl.server.connections.incoming_frames import IncomingFrames
from kraftctl.server.connections.response_writer import ResponseWriter
from kraftctl.server.connections.throttled_clients import muted_seconds
from kraftctl.server.connections.turn_responses import COLLECTED_BYTES_MAX, ResponseBatching, TurnResponses
from kraftctl.server.connections.voter_connections import VoterConnections
from kraftctl.server.loop.client_requests import (
    FrameLimits,
    ReceivedRequest,
    RequestHandler,
    Respond,
    receive_request,
)
from kraftctl.server.loop.connected_client import ConnectedClient
from kraftctl.server.loop.fetching_replica import NO_REPLICA, fetching_replica, is_served
from kraftctl.server.loop.request_turns import MUST_WAIT, SASL_HANDSHAKE_KEY, URGENT, RequestTurns
from kraftctl_protocol.frames import SIZE_PREFIX_BYTES, FrameError
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import KafkaPrincipal

HELD_WHILE_BUSY_BYTES_MAX: Final = 64 * 1024
"""How much of later requests is read while one is being answered; then reading pauses."""


class Accounts(Protocol):
    """What the connections of all listeners hold together."""

    @property
    def budget(self) -> ByteBudget[Connection]:
        """Returns the bytes of unfinished and waiting requests."""

    @property
    def unsent(self) -> ByteBudget[Connection]:
        """Returns the bytes of responses that clients have not read."""

    @property
    def voters(self) -> VoterConnections[Connection]: ...

    def admit(self, connection: Connection) -> bool:
        """Returns whether there is room for one more, which `release` ends."""

    def release(self, connection: Connection) -> None:
        """Forgets a connection that is lost, whether it was admitted or not."""

    def enforce_budgets(self) -> None:
        """Closes those who hold too much."""


class ConnectionOwner:
    """What the connections of one listener share."""

    def __init__(
        self,
        *,
        listener_name: str,
        security_protocol: str,
        max_frame_bytes: int,
        loop: asyncio.AbstractEventLoop,
        handler: RequestHandler,
        accounts: Accounts,
        responses: TurnResponses,
        logs: ConnectionLogs,
    ) -> None:
        self.listener_name = listener_name
        self.security_protocol = security_protocol
        self.max_frame_bytes = max_frame_bytes
        self.loop = loop
        self.now = loop.time
        self.handler = handler
        self.accounts = accounts
        self.responses = responses
        self.logs = logs


@mypyc_attr(allow_interpreted_subclasses=True)
class Connection(ResponseBatching):
    """The life of one accepted socket, in the states of `connection_states`.

    Has the methods of asyncio.Protocol, from which a compiled class cannot inherit.
    """

    def __init__(self, owner: ConnectionOwner) -> None:
        self._owner = owner
        self._state = states.NEW
        self._flow = states.READING
        self._incoming = IncomingFrames(owner.max_frame_bytes)
        self._transport: asyncio.Transport
        self._writer: ResponseWriter
        self.client: ConnectedClient
        self._request: ReceivedRequest | None = None
        self._respond_to: Respond | None = None
        self._muted: asyncio.TimerHandle | None = None
        self.last_active = owner.now()

    @property
    def peer_host(self) -> str:
        return self.client.host

    @property
    def turns(self) -> RequestTurns:
        """Returns the time that this connection shares with all others."""
        return self._owner.handler.turns

    @property
    def busy(self) -> bool:
        """A request is waiting for its response, or for time."""
        return self._request is not None or self._state == states.WAITING

    @property
    def _is_closed(self) -> bool:
        """Nothing is received or served any more."""
        return self._state >= states.CLOSING

    def _on(self, event: int) -> None:
        """Changes the state of the side of requests."""
        self._state = states.next_state(self._state, event)

    def _on_flow(self, event: int) -> None:
        """Changes the state of the side of the socket."""
        self._flow = states.next_state(self._flow, event)

    # The socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._writer = ResponseWriter(self._transport)
        # One object for all requests, not one for each. `_drop_requests` ends the cycle.
        self._respond_to = self._respond
        self.client = client_of(self._owner.listener_name, transport.get_extra_info("peername"))
        self._limit_requests()
        # As in Kafka, a request is not processed before the response to the one before it has been sent;
        # small ones are sent at the end of a turn.
        self._transport.set_write_buffer_limits(high=0)
        if self._owner.accounts.admit(self):
            self._on(states.ADMIT)
        else:
            self.close()

    def authenticated(self, principal: KafkaPrincipal) -> None:
        """Handles the end of the SSL handshake; without one, the client stays ANONYMOUS."""
        self.client.principal = principal

    def connection_lost(self, exc: Exception | None) -> None:
        self._on(states.LOSE)
        self._let_go()
        request, self._request = self._request, None
        if request is not None:
            self._owner.handler.cancel(request.id)
        self._owner.accounts.release(self)

    def data_received(self, data: bytes) -> None:
        if self._is_closed:
            return
        self.last_active = self._owner.now()
        if self._is_idle:
            frame = self._incoming.only_frame(data)
            if frame is not None:
                self._begin_or_wait(frame)
                if self._state == states.WAITING:
                    self._bound_memory(has_new_frame=True)
                return
        try:
            has_new_frame = self._incoming.feed(data)
        except FrameError as error:
            self._refuse_bytes(error.head, str(error), is_framed=False)
            return
        if has_new_frame:
            self._serve()
        elif not self.client.speaks_kafka and self._refuses_beginning(data):
            return
        if not self._is_closed:
            self._bound_memory(has_new_frame=has_new_frame)

    def eof_received(self) -> None:
        """The client sends nothing more: the loop closes the connection."""

    def pause_writing(self) -> None:
        if self._flow == states.READING and not self._is_closed:
            self._transport.pause_reading()
        self._on_flow(states.FILL)

    def resume_writing(self) -> None:
        self._on_flow(states.DRAIN)
        self.last_active = self._owner.now()
        self._owner.accounts.unsent.hold(self, 0, self.last_active)
        self._serve()

    def note_unread(self, now: float) -> None:
        """Notes what the client has not read of its response. Reading resets the client's holding time."""
        self._owner.accounts.unsent.note_left(self, self._transport.get_write_buffer_size(), now)

    def close(self) -> None:
        """Sends what has been written, then closes."""
        self._on(states.CLOSE)
        self._drop_requests()
        self._writer.write_collected()
        self._transport.close()

    def abort(self) -> None:
        """Closes immediately, dropping what has not been sent."""
        self._on(states.CLOSE)
        self._let_go()
        self._transport.abort()

    # Requests.

    def _serve(self) -> None:
        """Process requests in order until one has to wait for its response."""
        incoming = self._incoming
        while incoming.has_frame and self._state == states.IDLE and self._has_room:
            self._begin_or_wait(incoming.take())
        reads_on = self._flow == states.PAUSED and self._state < states.MUTED
        if reads_on and self._has_room and not incoming.has_frame:
            self._on_flow(states.READ_ON)
            self._hold(incoming.unfinished_bytes, self._owner.now(), renewed=True)
            self._transport.resume_reading()

    @property
    def _has_room(self) -> bool:
        """The responses before have left, or are few bytes that leave at the end of this turn."""
        return self._flow != states.FULL and self._writer.has_room

    @property
    def _is_idle(self) -> bool:
        """Nothing is before the next request, and the budget counts nothing of this connection."""
        return (
            self._state == states.IDLE
            and self._flow == states.READING
            and self._incoming.counted_bytes == 0
            and self._writer.has_room
        )

    def _begin_or_wait(self, frame: bytes) -> None:
        """Start a request, or let it wait until the loop has time for it."""
        handler = self._owner.handler
        began_ns = handler.begin(frame) if self._takes_turns() else URGENT
        if began_ns < URGENT:
            self._incoming.put_back(frame)
            self._on(states.WAIT)
            later = handler.begin_later if began_ns == MUST_WAIT else handler.begin_soon
            later(self.client.address, self._begin_waiting)
            return
        self._start(frame)
        if began_ns != URGENT:
            handler.end(self.client.address, began_ns)

    def _takes_turns(self) -> bool:
        """Returns whether requests wait for the time of turns; while it authenticates, a client does not."""
        return True

    def _begin_waiting(self) -> None:
        """Begins the request that waited, if one came. A failure in here closes only this connection."""
        if self._state == states.MUTED and self._incoming.has_frame:
            self.last_active = self._owner.now()  # Kafka reads it no earlier
        self._on(states.TURN)
        try:
            self._serve()
        except Exception as error:  # noqa: BLE001 - others wait for the same turn
            self._fail(error)

    def _start(self, frame: bytes) -> None:
        received = receive_request(frame)
        if isinstance(received, str):
            self._refuse_bytes(frame, received, is_framed=True)
            return
        if received.api.key == SASL_HANDSHAKE_KEY:
            self._note_sasl()
        self._take(received, frame)
        context = received.context(self.client, int(received.started_at * 1_000))
        respond_to = self._respond_to
        assert respond_to is not None, "the connection is open"
        received.id = self._owner.handler.submit(
            context, received.take_content(), respond_to, received.decoded_bytes
        )
        if self._state == states.STARTING:
            self._on(states.SUBMIT)

    def _take(self, request: ReceivedRequest, frame: bytes) -> None:
        """Makes this request the one that is answered next."""
        self._on(states.START)
        self.client.speaks_kafka = True
        request.frame_bytes = len(frame)
        # Now: bytes have come, a response has left, or a mute is over; no caller waits in between.
        request.started_at = self.last_active
        self._request = request

    # Responses.

    def _respond(self, answer: Answer) -> None:
        """Take the response to the request in flight, now or when the loop has time."""
        request, handler = self._request, self._owner.handler
        if (
            self._state == states.STARTING
            or request is None
            or not handler.must_respond_later(request.api.key)
        ):
            self._respond_now(answer)
        else:
            handler.respond_later(self.client.address, partial(self._respond_now, answer))

    def _respond_now(self, answer: Answer) -> None:
        """Take the response to the request in flight. A failure in here closes only this connection."""
        try:
            self._answer(answer)
        except Exception as error:  # noqa: BLE001 - the caller carries out the effects of the node
            self._fail(error)

    def _answer(self, answer: Answer) -> None:
        request = self._request
        if request is None:
            return
        self._request = None
        is_within = self._state == states.STARTING
        self._on(states.ANSWER)
        if self._is_closed:
            return
        self.last_active = self._owner.now()
        parsed = request.parsed
        if isinstance(answer, Close):
            what = f"{type(parsed.body).__name__} version {parsed.version}"
            self._refuse(f"{what}: {answer.reason}" if answer.reason else f"{what} was not answered")
            return
        pieces = encoded_response(request, answer, self._owner.logs.failures)
        if pieces is None:
            self.close()
            return
        self._note_voter(parsed.body, answer)
        payload_bytes = len(pieces[0]) if len(pieces) == 1 else sum(map(len, pieces))
        self._write(pieces, payload_bytes, is_within=is_within)
        requests, seconds = self._owner.logs.requests, self.last_active - request.started_at
        requests.completed(self.client.peer, parsed, request.frame_bytes, payload_bytes, seconds)
        self._mute(muted_seconds(answer))
        if not is_within:
            self._serve()

    def _mute(self, seconds: float) -> None:
        """Serves the client again after this time. Its requests are held like those behind another one."""
        if seconds > 0.0 and not self._is_closed:
            self._on(states.MUTE)
            self._muted = self._owner.loop.call_later(seconds, self._begin_waiting)

    def _note_voter(self, request: Message, response: Message) -> None:
        replica_id = fetching_replica(request)
        if replica_id != NO_REPLICA and is_served(response) and self._owner.handler.is_voter(replica_id):
            self._owner.accounts.voters.note(replica_id, self)

    def send_collected(self) -> None:
        """All sockets of the turn are read. A failure in here closes only this connection."""
        collected_bytes = self._writer.collected_bytes
        if collected_bytes == 0 or self._is_closed:
            return
        try:
            self._writer.write_collected()
            self._note_unsent(collected_bytes)
            if self._incoming.has_frame or self._flow != states.READING:
                self._serve()
        except Exception as error:  # noqa: BLE001 - other connections wait for the same call
            self._fail(error)

    def _write(self, pieces: list[bytes], payload_bytes: int, *, is_within: bool) -> None:
        """Small responses leave at the end of this turn, unless others have its end for their requests."""
        writer, owner = self._writer, self._owner
        if (
            is_within
            and payload_bytes < COLLECTED_BYTES_MAX
            and len(pieces) == 1
            and not owner.handler.has_waiting()
        ):
            if writer.collected_bytes == 0:
                owner.responses.add(self)
            writer.collect(pieces[0])
        else:
            writer.write(pieces, payload_bytes)
            self._note_unsent(SIZE_PREFIX_BYTES + payload_bytes)

    def _note_unsent(self, size_bytes: int) -> None:
        if self._flow == states.FULL and not self._is_closed:
            self._owner.accounts.unsent.hold(self, size_bytes, self.last_active)
            self._owner.accounts.enforce_budgets()

    def _fail(self, error: Exception) -> None:
        """Closes this connection alone."""
        failures = self._owner.logs.failures
        failures.log(logging.ERROR, "Closing connection from %s: %s", self.client.peer, reason_of(error))
        self.abort()

    # What is held.

    def _bound_memory(self, *, has_new_frame: bool) -> None:
        """Stop reading while later requests are held; somebody is closed when all together hold too much."""
        incoming = self._incoming
        held_bytes = incoming.held_bytes
        if held_bytes == incoming.counted_bytes == 0:
            return
        self._hold(held_bytes, self.last_active, renewed=has_new_frame)
        waits = self.busy or self._state == states.MUTED
        if incoming.has_frame or (waits and held_bytes > HELD_WHILE_BUSY_BYTES_MAX):
            self._pause_reading()
        if held_bytes > 0:
            self._owner.accounts.enforce_budgets()

    def _hold(self, size_bytes: int, now: float, *, renewed: bool = False) -> None:
        """Counts what is held of requests towards the budget of all connections."""
        self._owner.accounts.budget.hold(self, size_bytes, now, renewed=renewed)
        self._incoming.counted_bytes = size_bytes

    def _pause_reading(self) -> None:
        """Leave later requests to the sender: `_serve` reads on."""
        if self._flow == states.READING and not self._is_closed:
            self._on_flow(states.HOLD)
            self._transport.pause_reading()

    def _let_go(self) -> None:
        """Hold nothing any more."""
        self._drop_requests()
        self._writer.drop()
        self._owner.accounts.voters.forget(self)
        self._owner.accounts.unsent.hold(self, 0, 0.0)

    def _drop_requests(self) -> None:
        """Nothing is served any more."""
        self._respond_to = None
        if self._muted is not None:
            self._muted.cancel()
        self._incoming.clear()
        self._hold(0, 0.0)

    def _limit_requests(self) -> None:
        self._limit(self._owner.max_frame_bytes, FrameLimits(self.client, self._owner.handler.lacks_right))

    def _limit(self, frame_bytes_max: int, limit_of_kind: FrameLimits | None) -> None:
        """Limits what is received next, also if its beginning has come already."""
        try:
            self._incoming.limit(frame_bytes_max, limit_of_kind)
        except FrameError as error:
            self._refuse_bytes(error.head, str(error), is_framed=False)

    # What is refused.

    def _note_sasl(self) -> None:
        """The client wants to authenticate, and is answered that it cannot."""
        self._note_foreign(why_no_sasl(self._owner.security_protocol))

    def _refuse_bytes(self, head: bytes, reason: str, *, is_framed: bool) -> None:
        """What comes is no request. The first bytes of a connection may be those of another protocol."""
        foreign: str | None = None
        if not self.client.speaks_kafka:
            foreign = why_foreign(head, is_framed=is_framed, protocol=self._owner.security_protocol)
            foreign = foreign or (reason if is_framed else None)
        if foreign is None:
            self._refuse(reason)
        else:
            self._end_foreign(foreign)

    def _refuses_beginning(self, data: bytes) -> bool:
        """Whether the first bytes are a whole message of a protocol that counts its length otherwise."""
        payload, protocol = data[SIZE_PREFIX_BYTES:], self._owner.security_protocol
        foreign = why_foreign(payload, is_framed=True, protocol=protocol)
        if foreign is not None:
            self._end_foreign(foreign)
        return foreign is not None

    def refuse_without_ssl(self, head: bytes) -> None:
        """On a listener that uses SSL; these are the first bytes."""
        self._end_foreign(why_not_ssl(head, protocol=self._owner.security_protocol))

    def _end_foreign(self, foreign: str) -> None:
        self._note_foreign(foreign)
        self.close()

    def _note_foreign(self, what: str) -> None:
        self._owner.logs.foreign_clients.note(self.client, what)

    def _refuse(self, reason: str) -> None:
        self._owner.logs.refusals.warning("Closing connection from %s: %s", self.client.peer, reason)
        self.close()
