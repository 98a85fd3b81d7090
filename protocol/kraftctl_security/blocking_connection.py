"""One blocking connection to a broker or a controller: SSL and SASL, then a request and its response."""

from __future__ import annotations

import socket
import ssl
import time
from typing import Final

from kraftctl_protocol.frames import FRAME_BYTES_MAX_DEFAULT, FrameDecoder, encode_frame
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.authentication_failures import failure_of_ssl, refuse_ssl_alert
from kraftctl_security.client_config import ClientSecurity
from kraftctl_security.peer_codec import PeerCodec
from kraftctl_security.sasl.client_exchange import SaslExchange

RECEIVE_BYTES: Final = 262_144

Endpoint = tuple[str, int]
"""Host and port."""


class UnservedRequestError(Exception):
    """The node does not serve this API in a version that has all fields of the request."""


def endpoint_text(endpoint: Endpoint) -> str:
    """`host:port`, with an IPv6 address in brackets."""
    host, port = endpoint
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class BlockingConnection:
    """Not thread-safe. After any exception but UnservedRequestError it is unusable: close it, connect anew.

    Requests raise OSError or DecodeError when another attempt, or another node, may succeed, and
    AuthenticationFailedError when the configuration has to change first.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        client_id: str,
        software: tuple[str, str],
        security: ClientSecurity,
        setup_timeout_s: float,
        timeout_s: float,
    ) -> None:
        """Connects, in `setup_timeout_s` with SSL; asks for versions and authenticates, in `timeout_s`.

        `software` is the name and version that the node gets to know.
        """
        self.endpoint = endpoint
        self._security = security
        self._codec = PeerCodec(client_id, software)
        self._decoder = FrameDecoder(FRAME_BYTES_MAX_DEFAULT)
        self._is_accepted = False
        """Whether the node has answered: before that it may refuse the certificate of this side."""
        self._renew_at: float | None = None
        self._socket = socket.create_connection(endpoint, timeout=setup_timeout_s)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._encrypt()
            deadline = time.monotonic() + timeout_s
            self._codec.decode_versions(self._exchange(self._codec.encode_versions_request(), deadline))
            self._is_accepted = True
            self._authenticate(deadline)
        except BaseException:
            self._socket.close()
            raise

    def close(self) -> None:
        """Never raises."""
        self._socket.close()

    def ask(self, request: Message, timeout_s: float, lowest_version: int = 0) -> Message:
        """The response, in the highest common version, which is not before `lowest_version`.

        Raises UnservedRequestError if there is none.
        """
        deadline = time.monotonic() + timeout_s
        if self._renew_at is not None and time.monotonic() >= self._renew_at:
            self._authenticate(deadline)
        payload = self._codec.encode(request, lowest_version)
        if payload is None:
            versions = f" in version {lowest_version} or later" if lowest_version else ""
            raise UnservedRequestError(f"it does not serve this {request.NAME}{versions}")
        return self._codec.decode(self._exchange(payload, deadline))

    def _encrypt(self) -> None:
        context = self._security.ssl_context
        if context is None:
            return
        try:
            self._socket = context.wrap_socket(self._socket, server_hostname=self.endpoint[0])
        except ssl.SSLError as error:
            raise _meaning_of(error) from error

    def _authenticate(self, deadline: float) -> None:
        """The first time, and again before the session expires (KIP-368)."""
        if self._security.new_sasl_client is None:
            return
        exchange = SaslExchange(self._codec, self._security.new_sasl_client)
        answer: bytes | None = None
        while (payload := exchange.advance(answer)) is not None:
            answer = self._exchange(payload, deadline)
        renewed_after_s = exchange.renewed_after_seconds
        self._renew_at = None if renewed_after_s is None else time.monotonic() + renewed_after_s

    def _exchange(self, payload: bytes, deadline: float) -> bytes:
        try:
            self._wait_until(deadline)
            self._send(encode_frame(payload))
            while True:
                self._wait_until(deadline)
                data = self._socket.recv(RECEIVE_BYTES)
                if not data:
                    raise _closed()
                if not self._is_accepted:
                    refuse_ssl_alert(data)
                frames = self._decoder.feed(data)
                if len(frames) > 1:
                    raise DecodeError("more than one response to one request")
                if frames:
                    return frames[0]
        except ssl.SSLError as error:
            # In TLS 1.3 a node refuses the certificate of a client after the client's handshake.
            raise (_closed() if self._is_accepted else _meaning_of(error)) from error

    def _send(self, frame: bytes) -> None:
        try:
            self._socket.sendall(frame)
        except OSError:
            if not self._is_accepted:
                # The node has closed the connection; what it sent before may say why: an alert.
                self._socket.recv(RECEIVE_BYTES)
            raise

    def _wait_until(self, deadline: float) -> None:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(left_s)


def _meaning_of(error: ssl.SSLError) -> Exception:
    return failure_of_ssl(error) or _closed()


def _closed() -> ConnectionResetError:
    return ConnectionResetError("the node has closed the connection")
