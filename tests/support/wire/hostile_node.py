"""A node on a real socket that answers with any bytes: what a client may be sent by a hostile controller."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

from kraftctl_protocol.frames import FrameDecoder, encode_frame
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import ParsedRequest, decode_request, encode_response

SERVED = (
    ApiVersionsRequest,
    DescribeClusterRequest,
    DescribeQuorumRequest,
    FetchRequest,
    FetchSnapshotRequest,
    VoteRequest,
)

Reply = Message | bytes | Iterator[bytes] | None
"""A response; bytes with their size, together or in pieces; None closes the connection."""


def framed(request: ParsedRequest, response: Message, *, late: int = 0, added: bytes = b"") -> bytes:
    """The bytes of a response to the request, or to one that is `late` requests older, and more in it."""
    correlation_id = request.header.correlation_id - late
    return encode_frame(encode_response(correlation_id, request.api_key, request.version, response) + added)


class HostileNode:
    """`reply` gets each request but ApiVersions; with `to_versions` that as well."""

    def __init__(self, reply: Callable[[ParsedRequest], Reply], *, to_versions: bool = False) -> None:
        self.requests: list[Message] = []
        self.sent_bytes = 0
        self._reply = reply
        self._to_versions = to_versions
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = ("127.0.0.1", int(self._listener.getsockname()[1]))
        self._open: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> HostileNode:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for each in self._open:
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        decoder = FrameDecoder()
        with contextlib.suppress(OSError), connection:
            while data := connection.recv(65_536):
                for frame in decoder.feed(data):
                    request = decode_request(frame)
                    if not self._answer(connection, request):
                        return

    def _answer(self, connection: socket.socket, request: ParsedRequest) -> bool:
        reply: Reply
        if isinstance(request.body, ApiVersionsRequest) and not self._to_versions:
            reply = ApiVersionsResponse(
                api_keys=[
                    ApiVersion(api_key=kind.API_KEY, min_version=0, max_version=kind.HIGHEST_VERSION)
                    for kind in SERVED
                ]
            )
        else:
            self.requests.append(request.body)
            reply = self._reply(request)
        if reply is None:
            return False
        if isinstance(reply, Message):
            reply = framed(request, reply)
        for piece in [reply] if isinstance(reply, bytes) else reply:
            connection.sendall(piece)
            self.sent_bytes += len(piece)
        return True
