"""SSL over a connection to another controller, record by record: with the limits that listeners have.

The SSL of the loop processes all that a peer sends in one call, and counts nothing of it: a node that is not
the controller it should be could take the loop of this one before its certificate is verified.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, cast

from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.authentication_failures import AuthenticationFailedError
from kraftctl_security.tls.shown_chain import refuse_excessive_node
from kraftctl_security.tls.ssl_records import RECORD_BYTES_MAX, ExcessiveRecordsError, SslRecords

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[asyncio.Protocol], Awaitable[asyncio.Transport]]


async def open_ssl_streams(connect: Connect, context: ssl.SSLContext, host: str) -> Streams:
    """Returns streams once the handshake is finished. `connect` connects a protocol.

    Raises ssl.SSLError, OSError, DecodeError, or AuthenticationFailedError for too many certificates.
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport = PeerSslTransport(loop, SslRecords(context, host), protocol)
    try:
        await connect(transport)
        transport.begin()
        await transport.established
    except BaseException:
        transport.abort()
        raise
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


class PeerSslTransport(asyncio.Transport, asyncio.Protocol):
    """The protocol of a socket, and the transport of a stream."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, records: SslRecords, stream: asyncio.StreamReaderProtocol
    ) -> None:
        super().__init__()
        self.established: asyncio.Future[None] = loop.create_future()
        self._loop = loop
        self._records = records
        self._stream: asyncio.StreamReaderProtocol | None = stream
        self._socket: asyncio.Transport | None = None
        self._is_closing = False
        self._is_paused = False

    # The protocol of the socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._socket = cast("asyncio.Transport", transport)

    def begin(self) -> None:
        """Sends the first message of the handshake."""
        if not self._is_closing and self._socket is not None:
            self._socket.write(self._records.begin())

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc)

    def eof_received(self) -> bool:
        self._end(None)
        return False

    def data_received(self, data: bytes) -> None:
        if self._is_closing:
            return
        self._records.receive(data)
        if self.established.done():
            self._read()
        else:
            self._handshake()

    def pause_writing(self) -> None:
        if self._stream is not None:
            self._stream.pause_writing()

    def resume_writing(self) -> None:
        if self._stream is not None:
            self._stream.resume_writing()

    # The handshake, and records.

    def _handshake(self) -> None:
        try:
            if not self._records.handshake():
                return
            refuse_excessive_node(self._records.ssl)
        except ExcessiveRecordsError as excess:
            self._fail(DecodeError(f"the SSL handshake has more than {excess}"))
            return
        except (ssl.SSLError, AuthenticationFailedError) as error:
            self._fail(error)
            return
        finally:
            self._flush()
        assert self._stream is not None
        self._stream.connection_made(self)
        self.established.set_result(None)
        self._read()

    def _read(self) -> None:
        """Passes on what the next records have; further ones wait for another turn of the loop."""
        if self._is_closing or self._is_paused or self._stream is None or self._socket is None:
            return
        try:
            blocks = self._records.blocks()
        except ExcessiveRecordsError as excess:
            self._fail(DecodeError(f"it sends more than {excess}"))
            return
        except ssl.SSLError as error:
            self._fail(error)
            return
        self._flush()  # a response to a change of keys
        for block in blocks:
            self._stream.data_received(block)
        if self._records.has_ended:
            self._end(None)
        elif self._records.has_record:
            self._socket.pause_reading()
            self._loop.call_soon(self._read)
        elif not self._is_paused:
            self._socket.resume_reading()

    def _flush(self) -> None:
        encrypted = self._records.encrypted()
        if encrypted and self._socket is not None and not self._socket.is_closing():
            self._socket.write(encrypted)

    def _fail(self, error: Exception) -> None:
        """Sends what there is to say, an alert, and ends."""
        self._flush()
        self._end(error)

    def _end(self, error: Exception | None) -> None:
        self._is_closing = True
        stream, self._stream = self._stream, None
        if not self.established.done():
            self.established.set_exception(error or ConnectionResetError("closed during the SSL handshake"))
        elif stream is not None:
            if error is None:
                stream.eof_received()
            stream.connection_lost(error)
        if self._socket is not None:
            self._socket.close()

    # The transport of the stream.

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing or self._socket is None:
            return
        view = memoryview(data)
        for start in range(0, len(view), RECORD_BYTES_MAX):
            self._records.ssl.write(view[start : start + RECORD_BYTES_MAX])
        self._socket.write(self._records.encrypted())

    def pause_reading(self) -> None:
        self._is_paused = True
        if self._socket is not None and not self._socket.is_closing():
            self._socket.pause_reading()

    def resume_reading(self) -> None:
        self._is_paused = False
        self._loop.call_soon(self._read)

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        self._is_closing = True
        if not self.established.cancel() and not self.established.cancelled():
            self.established.exception()  # Without this, the loop would log that no one has asked for it.
        stream, self._stream = self._stream, None
        if stream is not None:
            self._loop.call_soon(stream.connection_lost, None)
        if self._socket is not None:
            self._socket.abort()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default if self._socket is None else self._socket.get_extra_info(name, default)
