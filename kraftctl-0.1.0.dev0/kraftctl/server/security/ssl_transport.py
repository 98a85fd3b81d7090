"""SSL between an accepted socket and its Connection: the handshake, then records.

The SSL of the event loops is not used: it counts a response as sent that is still in the socket's transport
(docs/adr/0009). Here nothing is kept besides what was received last: what the socket does not take is counted
as for PLAINTEXT.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

from kraftctl.server.connections.connection import Connection
from kraftctl.server.connections.foreign_clients import ForeignClients
from kraftctl.server.security.unfinished_handshakes import UnfinishedHandshakes
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.principal import ANONYMOUS, USER_TYPE, KafkaPrincipal
from kraftctl_security.authentication_failures import EXPIRED, NOT_YET_VALID
from kraftctl_security.tls.distinguished_name import client_name
from kraftctl_security.tls.openssl_settings import keeps_sessions
from kraftctl_security.tls.shown_chain import why_too_many
from kraftctl_security.tls.ssl_config import TLS_1_2
from kraftctl_security.tls.ssl_principal_mapper import NoMatchingRuleError, SslPrincipalMapper
from kraftctl_security.tls.ssl_records import RECORD_BYTES_MAX, ExcessiveRecordsError, SslRecords
from kraftctl_security.tls.trial_handshake import handshake_failure

DATE_STEPS: Final = {
    EXPIRED: ". Next step: renew the certificate of that client, or of its issuer; the truststore is right",
    NOT_YET_VALID: ". Next step: compare the clock of this host with that of the client",
}

HANDSHAKE_SECONDS_MAX: Final = 10.0
"""A client of Kafka waits this long for a connection (socket.connection.setup.timeout.ms)."""

HANDSHAKE_RECORD: Final = 22
"""The first byte that a client of TLS sends."""

PIECE_BYTES: Final = 16 * RECORD_BYTES_MAX
"""The size of a piece to encrypt, so that a long response is not in memory a second time."""


class SslListener:
    """The common data of a listener's connections. A new `context` is for new connections."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        context: ssl.SSLContext,
        mapper: SslPrincipalMapper | None,
        unfinished: UnfinishedHandshakes[SslTransport],
        refusals: ForeignClients,
    ) -> None:
        self.loop = loop
        self.context = context
        self.mapper = mapper
        self.unfinished = unfinished
        self.refusals = refusals

    def principal(self, certificate: bytes | None) -> KafkaPrincipal:
        """Returns the principal of a certificate in DER. Raises DecodeError or NoMatchingRuleError.

        Without a mapper it is never called: SASL decides.
        """
        if certificate is None or self.mapper is None:
            return ANONYMOUS
        return KafkaPrincipal(USER_TYPE, self.mapper.name(client_name(certificate)))


class SslTransport(asyncio.Transport, asyncio.Protocol):
    """The protocol of a socket, and the transport of its Connection.

    The Connection is made, counted and limited when the socket is accepted, and gets nothing before the
    handshake is finished.
    """

    def __init__(self, listener: SslListener, connection: Connection) -> None:
        super().__init__()
        self._listener = listener
        self._connection: Connection | None = connection
        self._records = SslRecords(listener.context)
        self._ssl = self._records.ssl
        self._socket: asyncio.Transport
        self._is_established = False
        self._is_closing = False
        self._socket_is_full = False
        self._waits_for_turn = False
        self._is_paused = False
        """Whether the Connection takes no data now."""
        self._timeout: asyncio.TimerHandle | None = None

    # The protocol of the socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert self._connection is not None
        self._socket = cast("asyncio.Transport", transport)
        self._connection.connection_made(self)
        if not self._is_closing:
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_closing = True
        self._end_handshake()
        connection, self._connection = self._connection, None  # it has this object: no cycle is left
        if connection is not None:
            connection.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_closing:
            return
        if self._is_established:
            self._receive(data)
            return
        if self._records.is_untouched and data[0] != HANDSHAKE_RECORD:
            self._refuse_foreign(data)
            return
        self._records.receive(data)
        self._socket.pause_reading()
        self._wait(self._handshake)

    def pause_writing(self) -> None:
        self._socket_is_full = True
        if self._is_established and self._connection is not None:
            self._connection.pause_writing()

    def resume_writing(self) -> None:
        self._socket_is_full = False
        if self._is_established and self._connection is not None:
            self._connection.resume_writing()

    # The handshake.

    def _begin(self) -> None:
        self._timeout = self._listener.loop.call_later(HANDSHAKE_SECONDS_MAX, self._expire)
        oldest = self._listener.unfinished.add(self._peer_host, self)
        if oldest is not None:
            oldest.leave("too many SSL handshakes are unfinished")

    def leave(self, reason: str) -> None:
        """Closes immediately, with a log line."""
        self._refuse(reason)
        self.abort()

    def _handshake(self) -> None:
        if self._is_closing or self._is_established:
            return
        try:
            is_finished = self._records.handshake()
        except ssl.SSLError as error:
            self._flush()  # the alert
            self._refuse(f"the SSL handshake failed: {_reason(error)}")
        except ExcessiveRecordsError as excess:
            self._refuse(f"the SSL handshake has more than {excess}")
        else:
            self._flush()
            if is_finished:
                self._establish()
            else:
                self._socket.resume_reading()

    def _establish(self) -> None:
        assert self._connection is not None
        self._end_handshake()
        excess = why_too_many(self._ssl)
        if excess is not None:
            self._refuse(f"the client shows {excess}")
            return
        try:
            principal = self._listener.principal(self._ssl.getpeercert(binary_form=True))
        except (DecodeError, NoMatchingRuleError) as error:
            self._refuse(f"the client has no name: {error}")
            return
        self._is_established = True
        self._connection.authenticated(principal)
        self._socket.resume_reading()
        if self._socket_is_full:
            self._connection.pause_writing()
        self._read(self._connection)

    def _expire(self) -> None:
        self._timeout = None
        self.leave(f"the SSL handshake is not finished after {HANDSHAKE_SECONDS_MAX:.0f} s")

    def _end_handshake(self) -> None:
        """Ends a handshake that is finished, or will not be. Further calls have no effect."""
        self._listener.unfinished.remove(self._peer_host, self)
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = None

    @property
    def _peer_host(self) -> str:
        return "" if self._connection is None else self._connection.peer_host

    def _refuse_foreign(self, head: bytes) -> None:
        """Refuses a client that does not begin with SSL."""
        connection = self._connection
        if connection is not None:
            connection.refuse_without_ssl(head)

    def _refuse(self, reason: str) -> None:
        peer = "unknown" if self._connection is None else self._connection.client.peer
        self._listener.refusals.note_handshake(self._peer_host, peer, reason)
        if self._connection is not None:
            self._connection.close()

    # Records.

    def _receive(self, data: bytes) -> None:
        connection = self._connection
        assert connection is not None, "data comes before the end"
        turns = connection.turns
        if self._waits_for_turn or turns.is_spent:
            self._records.receive(data)
            self._wait_for_turn()
            return
        began_ns = turns.begin_records()
        try:
            block = self._records.only(data)
        except (ssl.SSLError, ExcessiveRecordsError) as error:
            self._refuse_record(error)
            return
        finally:
            turns.end_records(connection.client.address, began_ns)
        if block is None:
            self._records.receive(data)
            self._read(connection)
        else:
            self._pass_on(block)

    def _read(self, connection: Connection) -> None:
        """Passes on what the next records have, as one block; further ones wait for a turn."""
        records = self._records
        began_ns = connection.turns.begin_records()
        try:
            blocks = records.blocks()
        except (ssl.SSLError, ExcessiveRecordsError) as error:
            self._refuse_record(error)
            return
        finally:
            connection.turns.end_records(connection.client.address, began_ns)
        self._flush()  # a response to a change of keys
        self._pass_on(blocks[0] if len(blocks) == 1 else b"".join(blocks))
        if records.has_record and not self._is_paused and not self._is_closing:
            self._wait_for_turn()

    def _pass_on(self, data: bytes) -> None:
        if data and self._connection is not None:
            self._connection.data_received(data)
        if self._records.has_ended:
            # The connection sends first what it has collected for the end of this turn.
            if self._connection is not None:
                self._connection.close()
            self.close()
        elif not data:
            self._flush()

    def _refuse_record(self, error: ssl.SSLError | ExcessiveRecordsError) -> None:
        if isinstance(error, ssl.SSLError):
            self._refuse(f"a record cannot be read: {_reason(error)}")
        else:
            self._refuse(f"it sends more than {error}")

    def _wait_for_turn(self) -> None:
        """Has nothing more received before the records that are here are read."""
        if not self._waits_for_turn:
            self._waits_for_turn = True
            self._socket.pause_reading()
            self._wait(self._read_in_turn)

    def _wait(self, step: Callable[[], None]) -> None:
        """Calls `step` when there is time for clients of this address."""
        if self._connection is not None:
            self._connection.turns.wait(self._connection.client.address, step)

    def _read_in_turn(self) -> None:
        self._waits_for_turn = False
        if self._is_closing or self._is_paused or self._connection is None:
            return
        self._read(self._connection)
        if not self._waits_for_turn and not self._is_paused:
            self.resume_reading()

    def _flush(self) -> None:
        encrypted = self._records.encrypted()
        if encrypted and not self._socket.is_closing():
            self._socket.write(encrypted)

    # The transport of the Connection.

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writelines((data,))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        if self._is_closing:
            return  # as every transport; the end of records has been sent
        pieces: list[bytes] = []
        for data in list_of_data:
            view = memoryview(data)
            for start in range(0, len(view), PIECE_BYTES):
                self._ssl.write(view[start : start + PIECE_BYTES])
                pieces.append(self._records.encrypted())
        if len(pieces) == 1:
            self._socket.write(pieces[0])
        else:
            self._socket.writelines(pieces)

    def close(self) -> None:
        """Sends what has been written, ends the SSL session, then closes."""
        if self._is_closing:
            return
        self._is_closing = True
        self._end_handshake()
        if self._is_established and not (keeps_sessions() and self._ssl.version() == TLS_1_2):
            try:
                self._ssl.unwrap()
            except ssl.SSLError:
                pass  # the client has not said so yet, and need not
            self._flush()
        self._socket.close()

    def abort(self) -> None:
        self._is_closing = True
        self._end_handshake()
        self._socket.abort()

    def is_closing(self) -> bool:
        return self._is_closing

    def pause_reading(self) -> None:
        self._is_paused = True
        if not self._socket.is_closing():
            self._socket.pause_reading()

    def resume_reading(self) -> None:
        self._is_paused = False
        if self._records.has_record:
            self._wait_for_turn()
        elif not self._waits_for_turn and not self._socket.is_closing():
            self._socket.resume_reading()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._socket.set_write_buffer_limits(high, low)

    def get_write_buffer_size(self) -> int:
        return self._socket.get_write_buffer_size()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._socket.get_extra_info(name, default)


def _reason(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        step = DATE_STEPS.get(error.verify_code, "")
        return f"the certificate of the client is not accepted: {handshake_failure(error)}{step}"
    return handshake_failure(error)
