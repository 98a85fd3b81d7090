"""The SSL of a blocking client's socket, with the limits of `SslRecords`: Python's own has none.

It has the methods of a socket that these clients call, and their exceptions.
"""

from __future__ import annotations

import socket
import ssl
import time

from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.tls.shown_chain import refuse_excessive_node
from kraftctl_security.tls.ssl_records import RECORD_BYTES_MAX, ExcessiveRecordsError, SslRecords


class ClientSslSocket:
    """Not thread-safe. A timeout is that of a whole call, however often the node sends a byte meanwhile."""

    def __init__(self, plain: socket.socket, context: ssl.SSLContext, host: str) -> None:
        self._plain = plain
        self._records = SslRecords(context, host)
        self._unsent = self._records.begin()
        self._data: list[bytes] = []
        self._has_ended = False

    @property
    def ssl(self) -> ssl.SSLObject:
        return self._records.ssl

    def fileno(self) -> int:
        return self._plain.fileno()

    def settimeout(self, seconds: float | None) -> None:
        self._plain.settimeout(seconds)

    def close(self) -> None:
        self._plain.close()

    def do_handshake(self) -> None:
        """Leaves its last bytes to the next call. Raises ssl.SSLError, DecodeError, or
        AuthenticationFailedError for too many certificates.
        """
        deadline = _Deadline(self._plain)
        is_finished = False
        while not is_finished:
            deadline.send(self)
            data = deadline.receive()
            if not data:
                raise ssl.SSLEOFError(ssl.SSL_ERROR_EOF, "EOF occurred in violation of protocol")
            self._records.receive(data)
            try:
                is_finished = self._records.handshake()
            except ExcessiveRecordsError as excess:
                raise DecodeError(f"the SSL handshake has more than {excess}") from excess
            finally:
                self._unsent += self._records.encrypted()
        refuse_excessive_node(self._records.ssl)

    def send(self, data: bytes) -> int:
        """Encrypts all of the data; what the socket does not take is sent with the next call."""
        self._encrypt(data)
        try:
            _Deadline(self._plain).send(self)
        except ssl.SSLWantWriteError:
            pass
        return len(data)

    def sendall(self, data: bytes) -> None:
        self._encrypt(data)
        _Deadline(self._plain).send(self)

    def recv(self, bytes_max: int) -> bytes:
        """Returns the data of one record, whatever its length; b"" at the end."""
        deadline = _Deadline(self._plain)
        try:
            deadline.send(self)
        except ConnectionError:
            self._unsent = b""  # what the node has sent before it closed may say why: an alert
        while not self._data and not self._has_ended:
            if not self._records.has_record:
                data = deadline.receive(bytes_max)
                if not data:
                    self._has_ended = True
                    break
                self._records.receive(data)
            try:
                self._data = self._records.blocks()
            except ExcessiveRecordsError as excess:
                raise DecodeError(f"it sends more than {excess}") from excess
            self._has_ended = self._records.has_ended
            self._unsent += self._records.encrypted()
            deadline.send(self)
        return self._data.pop(0) if self._data else b""

    def _encrypt(self, data: bytes) -> None:
        for start in range(0, len(data), RECORD_BYTES_MAX):
            self._records.ssl.write(data[start : start + RECORD_BYTES_MAX])
        self._unsent += self._records.encrypted()


class _Deadline:
    """The end of one call, by the timeout of the socket. Its calls raise what those of Python's SSL do."""

    def __init__(self, plain: socket.socket) -> None:
        self._plain = plain
        self._seconds = plain.gettimeout()
        self._at = time.monotonic() + (self._seconds or 0.0)

    def receive(self, bytes_max: int = 2 * RECORD_BYTES_MAX) -> bytes:
        self._limit()
        try:
            return self._plain.recv(bytes_max)
        except BlockingIOError as error:
            raise ssl.SSLWantReadError(ssl.SSL_ERROR_WANT_READ, "no data") from error
        finally:
            self._plain.settimeout(self._seconds)

    def send(self, side: ClientSslSocket) -> None:
        try:
            while side._unsent:
                self._limit()
                side._unsent = side._unsent[self._plain.send(side._unsent) :]
        except BlockingIOError as error:
            raise ssl.SSLWantWriteError(ssl.SSL_ERROR_WANT_WRITE, "no room") from error
        finally:
            self._plain.settimeout(self._seconds)

    def _limit(self) -> None:
        """Has the next call of the socket end in time."""
        if self._seconds:
            left_seconds = self._at - time.monotonic()
            if left_seconds <= 0:
                raise TimeoutError("timed out")
            self._plain.settimeout(left_seconds)
