"""One blocking connection to a broker or a controller: a request, then its response."""

from __future__ import annotations

import socket
import ssl

from kraftctl.server.peer_codec import PeerCodec
from kraftctl_protocol.frames import FRAME_BYTES_MAX_DEFAULT, FrameDecoder, encode_frame
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError

RECEIVE_BYTES = 65_536

Endpoint = tuple[str, int]
"""Host and port."""


class UnsupportedRequestError(Exception):
    """The node does not serve this API in a version that has all fields of the request."""


def endpoint_text(endpoint: Endpoint) -> str:
    """`host:port`, with an IPv6 address in brackets."""
    host, port = endpoint
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Connection:
    """Not thread-safe. After an OSError or DecodeError it is unusable: close it and connect anew."""

    def __init__(
        self,
        endpoint: Endpoint,
        client_id: str,
        setup_timeout_s: float,
        timeout_s: float,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Connects, with SSL if there is a context, and asks for the versions that the node serves.

        Raises OSError, of which ssl.SSLError is a kind, or DecodeError.
        """
        self.endpoint = endpoint
        self._codec = PeerCodec(client_id)
        self._decoder = FrameDecoder(FRAME_BYTES_MAX_DEFAULT)
        self._socket = socket.create_connection(endpoint, timeout=setup_timeout_s)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if ssl_context is not None:
                self._socket = ssl_context.wrap_socket(self._socket, server_hostname=endpoint[0])
            self._socket.settimeout(timeout_s)
            self._codec.decode_versions(self._exchange(self._codec.encode_versions_request()))
        except BaseException:
            self._socket.close()
            raise

    def close(self) -> None:
        """Never raises."""
        self._socket.close()

    def ask(self, request: Message, timeout_s: float) -> Message:
        """The response, in the highest common version.

        Raises OSError, DecodeError or UnsupportedRequestError; after the last the connection is still good.
        """
        payload = self._codec.encode(request)
        if payload is None:
            raise UnsupportedRequestError(f"it does not serve this {request.NAME}")
        self._socket.settimeout(timeout_s)
        return self._codec.decode(self._exchange(payload))

    def _exchange(self, payload: bytes) -> bytes:
        self._socket.sendall(encode_frame(payload))
        while True:
            data = self._socket.recv(RECEIVE_BYTES)
            if not data:
                raise ConnectionResetError("the node has closed the connection")
            frames = self._decoder.feed(data)
            if len(frames) > 1:
                raise DecodeError("more than one response to one request")
            if frames:
                return frames[0]
