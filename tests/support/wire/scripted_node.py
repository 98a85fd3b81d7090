"""A node on a real socket that gives scripted answers: what a tool prints then depends on nothing else."""

from __future__ import annotations

import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Mapping
from typing import cast

from kraftctl_protocol.frames import FrameDecoder, encode_frame
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import decode_request, encode_response

Script = Mapping[type[Message], Callable[[Message], Message | None]]
"""Request class -> answer; without a response (None) the node closes the connection."""


Versions = Mapping[type[Message], tuple[int, int]]
"""Request class -> lowest and highest version."""


class ScriptedNode:
    """Serves ApiVersions and the APIs of its script; `requests` has all that it got of the latter."""

    def __init__(
        self,
        script: Script,
        versions: Versions | None = None,
        ssl_context: ssl.SSLContext | None = None,
        place: tuple[str, int] = ("127.0.0.1", 0),
    ) -> None:
        """`versions` narrows what ApiVersions lists; with an `ssl_context`, the node serves SSL.

        It listens at `place`, an address of either family and a port.
        """
        self.script = dict(script)
        self.versions = dict(versions or {})
        self.finalized: dict[str, int] = {}
        """Feature -> level, as ApiVersions lists them."""
        self.finalized_epoch = -1
        self.supported: dict[str, tuple[int, int]] = {}
        """Feature -> lowest and highest level, as ApiVersions lists them."""
        self.requests: list[Message] = []
        self.ssl_context = ssl_context
        self._server = (_Server6 if ":" in place[0] else _Server)(place, _Conversation)
        self._server.node = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def answer(self, request: Message) -> Message | None:
        if isinstance(request, ApiVersionsRequest):
            return ApiVersionsResponse(
                api_keys=self._api_keys(),
                finalized_features_epoch=self.finalized_epoch,
                supported_features=[
                    SupportedFeatureKey(name=name, min_version=lowest, max_version=highest)
                    for name, (lowest, highest) in self.supported.items()
                ],
                finalized_features=[
                    FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
                    for name, level in self.finalized.items()
                ],
            )
        self.requests.append(request)
        return self.script[type(request)](request)

    def _api_keys(self) -> list[ApiVersion]:
        served: list[type[Message]] = [ApiVersionsRequest, *self.script]
        ranges = {kind: (kind.LOWEST_VERSION, kind.HIGHEST_VERSION) for kind in served} | self.versions
        return [
            ApiVersion(api_key=kind.API_KEY, min_version=lowest, max_version=highest)
            for kind, (lowest, highest) in ranges.items()
        ]

    def __enter__(self) -> ScriptedNode:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    node: ScriptedNode


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Conversation(socketserver.BaseRequestHandler):
    """One connection."""

    def handle(self) -> None:
        node = cast(_Server, self.server).node
        connection: socket.socket = self.request
        if node.ssl_context is None:
            self._serve(node, connection)
            return
        try:
            with node.ssl_context.wrap_socket(connection, server_side=True) as encrypted:
                self._serve(node, encrypted)
        except OSError:
            return  # as a node closes a connection whose handshake has failed

    def _serve(self, node: ScriptedNode, connection: socket.socket) -> None:
        frames = FrameDecoder()
        while data := connection.recv(65_536):
            for frame in frames.feed(data):
                request = decode_request(frame)
                response = node.answer(request.body)
                if response is None:
                    return
                payload = encode_response(
                    request.header.correlation_id, request.api_key, request.version, response
                )
                connection.sendall(encode_frame(payload))
