"""One attempt of a blocking client at one address: TCP, SSL, ApiVersions, without ever waiting."""

from __future__ import annotations

import os
import selectors
import socket
import ssl
import time
from contextlib import suppress
from typing import Final

from kraftctl_protocol.frames import encode_frame
from kraftctl_security.addresses.host_addresses import NOT_ANSWERED, NOT_CONNECTED, NOT_ENCRYPTED, Address
from kraftctl_security.authentication_failures import failure_of_ssl, refuse_ssl_alert
from kraftctl_security.peer_codec import PeerCodec
from kraftctl_security.tls.ssl_socket import ClientSslSocket

RECEIVE_BYTES: Final = 262_144

PENDING: Final = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
"""Calls that would have to wait raise one of these."""


class BlockingAttempt:
    """Call `advance` whenever the socket is ready for `waits_for`, until it returns True; then take the
    socket.

    Any exception ends the attempt and closes the socket.
    """

    def __init__(
        self,
        address: Address,
        host: str,
        *,
        context: ssl.SSLContext | None,
        codec: PeerCodec,
        setup_timeout_s: float,
        timeout_s: float,
    ) -> None:
        """TCP and SSL have to finish in `setup_timeout_s`, and ApiVersions within `timeout_s` after that."""
        self.address = address
        self.codec = codec
        self.began_at = time.monotonic()
        self.deadline = self.began_at + setup_timeout_s
        self.missing = NOT_CONNECTED
        """The step that has not finished yet."""
        self.waits_for = selectors.EVENT_WRITE
        plain = socket.socket(address.family, socket.SOCK_STREAM)
        self.socket: socket.socket | ClientSslSocket = plain
        self._host = host
        self._context = context
        self._timeout_s = timeout_s
        self._unsent = b""
        try:
            plain.setblocking(False)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.connect(address.place)
        except BlockingIOError:
            pass
        except BaseException:
            plain.close()
            raise

    def close(self) -> None:
        """Closes the socket and never raises."""
        self.socket.close()

    def advance(self) -> bool:
        """Returns True once ApiVersions has a response. Raises OSError, DecodeError or
        AuthenticationFailedError.
        """
        try:
            return self._advance()
        except ssl.SSLError as error:
            self.close()
            # In TLS 1.3 a node refuses the certificate of a client after the client's handshake.
            raise failure_of_ssl(error) or closed_by_node() from error
        except BaseException:
            self.close()
            raise

    def _advance(self) -> bool:
        try:
            if self.missing == NOT_CONNECTED:
                self._finish_connecting()
            if self.missing == NOT_ENCRYPTED:
                self._shake_hands()
            while self._unsent:
                self._send()
            return self._receive()
        except ssl.SSLWantWriteError:
            self.waits_for = selectors.EVENT_WRITE
        except ssl.SSLWantReadError:
            self.waits_for = selectors.EVENT_READ
        except BlockingIOError:
            self.waits_for = selectors.EVENT_WRITE if self._unsent else selectors.EVENT_READ
        return False

    def _finish_connecting(self) -> None:
        assert isinstance(self.socket, socket.socket)
        error = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error != 0:
            raise OSError(error, os.strerror(error))
        if self._context is None:
            self._ask()
            return
        self.missing = NOT_ENCRYPTED
        assert isinstance(self.socket, socket.socket)
        self.socket = ClientSslSocket(self.socket, self._context, self._host)

    def _shake_hands(self) -> None:
        assert isinstance(self.socket, ClientSslSocket)
        self.socket.do_handshake()
        self._ask()

    def _ask(self) -> None:
        self.missing = NOT_ANSWERED
        self.deadline = time.monotonic() + self._timeout_s
        self._unsent = encode_frame(self.codec.encode_versions_request())

    def _send(self) -> None:
        try:
            self._unsent = self._unsent[self.socket.send(self._unsent) :]
        except PENDING:
            raise
        except OSError:
            # The node has closed the connection; what it sent before may say why: an alert.
            with suppress(*PENDING):
                refuse_ssl_alert(self.socket.recv(RECEIVE_BYTES))
            raise

    def _receive(self) -> bool:
        while True:
            data = self.socket.recv(RECEIVE_BYTES)
            if not data:
                raise closed_by_node()
            refuse_ssl_alert(data)
            payload = self.codec.receive(data)
            if payload is not None:
                self.codec.decode_versions(payload)
                return True


def closed_by_node() -> ConnectionResetError:
    """Returns the error for a connection that the node has closed."""
    return ConnectionResetError("the node has closed the connection")
