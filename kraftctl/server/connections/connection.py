"""One client's connection: bytes to requests, responses back in request order, one request at a time.

As in Kafka's SocketServer, the next request of a connection is not processed before the previous one is
answered. Small responses of one turn leave together, 4 KiB at most. A request that cannot be decoded, or is
not in `API_TABLE`, ends the connection, except an ApiVersions request of a version from the future (KIP-511).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from functools import partial
from typing import Final, Protocol, cast

from mypy_extensions import mypyc_attr

from kraftctl.controller.results.error_responses import error_response
from kraftctl.controller.results.failures import reason_of
from kraftctl.node.request_outcomes import Answer, Close
from kraftctl.server.connections.byte_budget import ByteBudget
from kraftctl.server.connections.client_address import client_address
from kraftctl.server.connections.foreign_clients import ForeignClients, why_foreign, why_not_ssl
from kraftctl.server.connections.request_log import RequestLog
from kraftctl.server.connections.turn_responses import COLLECTED_BYTES_MAX, ResponseBatching, TurnResponses
from kraftctl.server.connections.voter_connections import VoterConnections
from kraftctl.server.connections.whole_frames import whole_frame
from kraftctl.server.logs.rate_limited_log import RateLimitedLog
from kraftctl.server.loop.client_requests import (
    MUST_WAIT,
    URGENT,
    FrameLimits,
    ReceivedRequest,
    RequestHandler,
    Respond,
    receive_request,
)
from kraftctl.server.loop.fetching_replica import NO_REPLICA, fetching_replica, is_served
from kraftctl.server.loop.long_responses import encode_pieces
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.frames import SIZE_PREFIX_BYTES, FrameDecoder, FrameError, encode_frame, encode_size
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import ANONYMOUS, KafkaPrincipal
from kraftctl_protocol.shared_response import unshared

HELD_WHILE_BUSY_BYTES_MAX: Final = 64 * 1024
"""How much of later requests is read while one is being answered; then reading pauses."""

GATHERED_BYTES_MIN: Final = 64 * 1024
"""A response from this size on is not copied once more to put its size before it."""

READ_SHARE: Final = 16
"""A client that reads the sixteenth part of its response at a time reads; the system's buffers take less."""


class ConnectionOwner(Protocol):
    """The listener, as its connections see it."""

    listener_name: str
    max_frame_bytes: int
    handler: RequestHandler
    budget: ByteBudget[Connection]
    """The bytes of unfinished and waiting requests of all connections."""
    voters: VoterConnections[Connection]
    unsent: ByteBudget[Connection]
    """The bytes of responses that clients have not read."""
    answers: TurnResponses
    request_log: RequestLog
    refusals: RateLimitedLog
    failures: RateLimitedLog
    foreign_clients: ForeignClients
    security_protocol: str

    def admit(self, connection: Connection) -> bool:
        """Whether there is room for one more; a connection admitted is `released` later."""
        ...

    def release(self, connection: Connection) -> None: ...

    def enforce_budgets(self) -> None:
        """Close those who hold too much."""
        ...


@mypyc_attr(allow_interpreted_subclasses=True)
class Connection(ResponseBatching):
    """The life of one accepted socket.

    Has the methods of asyncio.Protocol, from which a compiled class cannot inherit.
    """

    def __init__(self, owner: ConnectionOwner, loop: asyncio.AbstractEventLoop) -> None:
        self._owner = owner
        # What each request needs of the owner, which is interpreted, is asked once.
        self._listener_name = owner.listener_name
        self._handler = owner.handler
        self._request_log = owner.request_log
        self._responses = owner.answers
        self._loop = loop
        self._frames: deque[bytes] = deque()
        self._decoder = FrameDecoder(owner.max_frame_bytes)
        self._transport: asyncio.Transport
        self._request: ReceivedRequest | None = None
        self._request_id = -1
        self._request_bytes = 0
        self._collected = b""
        self._holds_requests = False
        self._serving = False
        self._waits = False
        self._respond_to: Respond | None = None
        self._admitted = False
        self._reading = True
        self._writable = True
        self._closed = False
        self._started_at = 0.0
        self.last_active = loop.time()
        self.peer_host = ""
        self.peer = ""
        self.client_address = b""
        self._principal = ANONYMOUS

    @property
    def busy(self) -> bool:
        """A request is waiting for its response, or for time."""
        return self._request is not None or self._waits

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # One object for all requests, not one for each. `_drop_requests` ends the cycle.
        self._respond_to = self._respond
        peer = transport.get_extra_info("peername")
        self.peer_host, self.client_address = client_address(peer[0] if peer else "")
        self._limit_frames()
        self.peer = f"{self.peer_host}:{peer[1]}" if peer else "unknown"
        # As in Kafka, a request is not processed before the response to the one before it has been sent;
        # small ones are sent at the end of a turn.
        self._transport.set_write_buffer_limits(high=0)
        self._admitted = self._owner.admit(self)
        if not self._admitted:
            self.close()

    def authenticated(self, principal: KafkaPrincipal) -> None:
        """Who the client is. Comes before its first bytes; without a call it is ANONYMOUS."""
        self._principal = principal
        self._limit_frames()

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed = True
        self._let_go()
        if self._request is not None:
            self._request = None
            self._handler.cancel(self._request_id)
        if self._admitted:
            self._owner.release(self)

    def data_received(self, data: bytes) -> None:
        if self._closed:
            return
        self.last_active = self._loop.time()
        if self._is_idle:
            frame = whole_frame(self._decoder, data)
            if frame is not None:
                self._serving = True
                self._begin_or_wait(frame)
                self._serving = False
                if self._waits:
                    self._bound_memory(has_new_frame=True)
                return
        try:
            frames = self._decoder.feed(data)
        except FrameError as error:
            self._refuse_bytes(error.head, str(error), is_framed=False)
            return
        if frames:
            self._frames.extend(frames)
            self._serve()
        elif self._started_at == 0.0 and self._refuses_beginning(data):
            return
        if not self._closed:
            self._bound_memory(has_new_frame=bool(frames))

    def eof_received(self) -> None:
        """The client sends nothing more: the loop closes the connection."""

    def pause_writing(self) -> None:
        self._writable = False
        self._pause_reading()

    def resume_writing(self) -> None:
        self._writable = True
        self.last_active = self._loop.time()
        self._owner.unsent.hold(self, 0, self.last_active)
        self._serve()

    def note_unread(self, now: float) -> None:
        """Notes what the client has not read of its response. Reading resets the client's holding time."""
        held_bytes = self._owner.unsent.held_by(self)
        left_bytes = self._transport.get_write_buffer_size()
        if left_bytes <= held_bytes - held_bytes // READ_SHARE:
            self._owner.unsent.hold(self, left_bytes, now, renewed=True)

    def close(self) -> None:
        """Send what has been written, then close."""
        self._closed = True
        self._drop_requests()
        self._write_collected()
        self._transport.close()

    def abort(self) -> None:
        """Close immediately, dropping what has not been sent."""
        self._closed = True
        self._collected = b""
        self._let_go()
        self._transport.abort()

    def _serve(self) -> None:
        """Process requests in order until one has to wait for its response."""
        self._serving = True
        while self._frames and self._has_turn and self._has_room and not self._closed:
            self._begin_or_wait(self._frames.popleft())
        self._serving = False
        if not self._reading and self._has_room and not self._frames and not self._closed:
            self._reading = True
            self._owner.budget.hold(self, self._decoder.held_bytes, self._loop.time(), renewed=True)
            self._transport.resume_reading()

    @property
    def _has_room(self) -> bool:
        """The responses before have left, or are few bytes that leave at the end of this turn."""
        return self._writable and len(self._collected) < COLLECTED_BYTES_MAX

    @property
    def _is_idle(self) -> bool:
        """Nothing is before the next request, and nothing is held back."""
        return (
            self._reading
            and self._request is None
            and not self._frames
            and not self._holds_requests
            and self._has_room
        )

    @property
    def _has_turn(self) -> bool:
        """No request is being answered, and none waits for time."""
        return self._request is None and not self._waits

    def _begin_or_wait(self, frame: bytes) -> None:
        """Start a request, or let it wait until the loop has time for it."""
        began_ns = self._handler.begin(frame) if self._takes_turns() else URGENT
        if began_ns == MUST_WAIT:
            self._frames.appendleft(frame)
            self._waits = True
            self._handler.begin_later(self.client_address, self._begin_waiting)
            return
        self._start(frame)
        if began_ns != URGENT:
            self._handler.end(began_ns)

    def _takes_turns(self) -> bool:
        """Returns whether requests wait for the time of turns; while it authenticates, a client does not."""
        return True

    def _begin_waiting(self) -> None:
        """Begins the request that waited. A failure in here closes only this connection."""
        self._waits = False
        try:
            self._serve()
        except Exception as error:  # noqa: BLE001 - others wait for the same turn
            self._log_error("Closing connection from %s: %s", self.peer, reason_of(error))
            self.abort()

    def _start(self, frame: bytes) -> None:
        self._request_bytes = len(frame)
        received = receive_request(frame)
        if isinstance(received, str):
            self._refuse_bytes(frame, received, is_framed=True)
            return
        # Now: bytes have come, or a response has left, and none of the callers waits in between.
        self._started_at = self.last_active
        if received.api.key == ApiKey.SASL_HANDSHAKE:
            self._note_sasl()
        self._request = received
        context = received.context(self._listener_name, self.client_address, self._principal)
        respond = self._respond_to
        assert respond is not None, "the connection is open"
        self._request_id = self._handler.submit(
            context, received.take_content(), respond, received.decoded_bytes
        )

    def _respond(self, answer: Answer) -> None:
        """Take the response to the request in flight, now or when the loop has time."""
        request = self._request
        if (
            self._serving
            or request is None
            or not self._handler.responds_later(
                request.api.key, self.client_address, partial(self._respond_now, answer)
            )
        ):
            self._respond_now(answer)

    def _respond_now(self, answer: Answer) -> None:
        """Take the response to the request in flight. A failure in here closes only this connection."""
        try:
            self._answer(answer)
        except Exception as error:  # noqa: BLE001 - the caller carries out the effects of the node
            self._log_error("Closing connection from %s: %s", self.peer, reason_of(error))
            self.abort()

    def _answer(self, answer: Answer) -> None:
        request = self._request
        if request is None:
            return
        self._request = None
        self.last_active = self._loop.time()
        parsed = request.parsed
        if isinstance(answer, Close):
            what = f"{type(parsed.body).__name__} version {parsed.version}"
            self._refuse(f"{what}: {answer.reason}" if answer.reason else f"{what} was not answered")
            return
        pieces = self._encode(request, answer)
        if pieces is None:
            self.close()
            return
        self._note_voter(parsed.body, answer)
        payload_bytes = len(pieces[0]) if len(pieces) == 1 else sum(map(len, pieces))
        self._write(pieces, payload_bytes)
        self._request_log.completed(
            self.peer, parsed, self._request_bytes, payload_bytes, self.last_active - self._started_at
        )
        if not self._serving:
            self._serve()

    def _note_voter(self, request: Message, response: Message) -> None:
        replica_id = fetching_replica(request)
        if replica_id != NO_REPLICA and is_served(response) and self._handler.is_voter(replica_id):
            self._owner.voters.note(replica_id, self)

    def send_collected(self) -> None:
        """All sockets of the turn are read. A failure in here closes only this connection."""
        try:
            self._send_collected()
        except Exception as error:  # noqa: BLE001 - other connections wait for the same call
            self._log_error("Closing connection from %s: %s", self.peer, reason_of(error))
            self.abort()

    def _send_collected(self) -> None:
        if not self._closed and self._collected:
            collected_bytes = len(self._collected)
            self._write_collected()
            self._note_unsent(collected_bytes)
            if self._frames or not self._reading:
                self._serve()

    def _write_collected(self) -> None:
        if self._collected:
            collected, self._collected = self._collected, b""
            self._transport.write(collected)

    def _write(self, pieces: list[bytes], payload_bytes: int) -> None:
        if self._collects and payload_bytes < COLLECTED_BYTES_MAX and len(pieces) == 1:
            if not self._collected:
                self._responses.add(self)
            self._collected += encode_frame(pieces[0])
            return
        self._write_collected()
        if payload_bytes < GATHERED_BYTES_MIN:
            self._transport.write(encode_frame(pieces[0] if len(pieces) == 1 else b"".join(pieces)))
        else:
            self._transport.writelines((encode_size(payload_bytes), *pieces))
            if self._writable and self._transport.get_write_buffer_size() > 0:
                # writelines() of asyncio in CPython 3.12 and 3.13 does not call pause_writing(); this does.
                self._transport.set_write_buffer_limits(high=0)
        self._note_unsent(SIZE_PREFIX_BYTES + payload_bytes)

    @property
    def _collects(self) -> bool:
        """Small responses leave at the end of this turn, unless others have its end for their requests."""
        return self._serving and not self._handler.has_waiting()

    def _note_unsent(self, size_bytes: int) -> None:
        if not self._writable and not self._closed:
            self._owner.unsent.hold(self, size_bytes, self.last_active)
            self._owner.enforce_budgets()

    def _encode(self, request: ReceivedRequest, response: Message) -> list[bytes] | None:
        """The response's bytes, or those of UNKNOWN_SERVER_ERROR; None when neither can be encoded."""
        parsed = request.parsed
        try:
            return encode_pieces(request, response)
        except Exception as error:  # noqa: BLE001 - a bug on our side that concerns this one answer
            self._log_error(
                "Cannot encode %s in version %d: %s",
                unshared(response).NAME,
                parsed.version,
                reason_of(error),
            )
        try:
            refusal = error_response(parsed.api_key, parsed.body, parsed.version, Errors.UNKNOWN_SERVER_ERROR)
            return [request.encode_response(refusal)]
        except Exception as error:  # noqa: BLE001 - it repeats names of the request, which may be the cause
            self._log_error("Cannot encode a refusal of %s either: %s", parsed.body.NAME, reason_of(error))
            return None

    def _log_error(self, message: str, *arguments: object) -> None:
        self._owner.failures.log(logging.ERROR, message, *arguments)

    def _bound_memory(self, *, has_new_frame: bool) -> None:
        """Stop reading while later requests are held; somebody is closed when all together hold too much."""
        held_bytes = self._decoder.held_bytes
        if self._frames:
            held_bytes += sum(map(len, self._frames))
        if held_bytes == 0 and not self._holds_requests:
            return
        budget = self._owner.budget
        budget.hold(self, held_bytes, self.last_active, renewed=has_new_frame)
        self._holds_requests = held_bytes > 0
        if self._reading and (self._frames or (self.busy and held_bytes > HELD_WHILE_BUSY_BYTES_MAX)):
            self._pause_reading()
        if held_bytes > 0:
            self._owner.enforce_budgets()

    def _pause_reading(self) -> None:
        """Leave later requests to the sender: `_serve` reads on."""
        if self._reading and not self._closed:
            self._reading = False
            self._transport.pause_reading()

    def _let_go(self) -> None:
        """Hold nothing any more."""
        self._drop_requests()
        self._owner.voters.forget(self)
        self._owner.unsent.hold(self, 0, 0.0)

    def _limit_frames(self) -> None:
        owner = self._owner
        limits = FrameLimits(
            self._listener_name, self.client_address, self._principal, self._handler.lacks_right
        )
        self._decoder = FrameDecoder(owner.max_frame_bytes, limits)

    def _drop_requests(self) -> None:
        """Nothing is served any more."""
        self._respond_to = None
        self._frames.clear()
        self._decoder.clear()
        self._owner.budget.hold(self, 0, 0.0)

    def _note_sasl(self) -> None:
        """The client wants to authenticate, and is answered that it cannot."""
        self._note_foreign(
            f"it wants to authenticate by SASL, and the security protocol of this listener is"
            f" {self._owner.security_protocol}. Next step: give the client that security.protocol, or map the"
            " listener to another one in listener.security.protocol.map"
        )

    def _refuse_bytes(self, head: bytes, reason: str, *, is_framed: bool) -> None:
        """What comes is no request. The first bytes of a connection may be those of another protocol."""
        foreign: str | None = None
        if self._started_at == 0.0:
            foreign = why_foreign(head, is_framed=is_framed, protocol=self._owner.security_protocol)
            if foreign is None and is_framed:
                foreign = reason
        if foreign is None:
            self._refuse(reason)
        else:
            self._note_foreign(foreign)
            self.close()

    def _refuses_beginning(self, data: bytes) -> bool:
        """Whether the first bytes are a whole message of a protocol that counts its length otherwise."""
        payload = data[SIZE_PREFIX_BYTES:]
        foreign = why_foreign(payload, is_framed=True, protocol=self._owner.security_protocol)
        if foreign is None:
            return False
        self._note_foreign(foreign)
        self.close()
        return True

    def refuse_without_ssl(self, head: bytes) -> None:
        """On a listener that uses SSL; these are the first bytes."""
        self._note_foreign(why_not_ssl(head, protocol=self._owner.security_protocol))
        self.close()

    def _note_foreign(self, what: str) -> None:
        self._owner.foreign_clients.note(self.peer_host, self.peer, self._listener_name, what)

    def _refuse(self, reason: str) -> None:
        self._owner.refusals.warning("Closing connection from %s: %s", self.peer, reason)
        self.close()
