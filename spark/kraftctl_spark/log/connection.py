"""One blocking connection to a controller: a request, then its response."""

from __future__ import annotations

import socket

from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.frames import FrameDecoder, encode_frame
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.requests import decode_response, encode_request

API_VERSIONS_VERSION = 3
"""Supported by every controller; newer versions only add a check of the node that the client expects."""
RECEIVE_BYTES = 262_144
FRAME_BYTES_MAX = 104_857_600

Endpoint = tuple[str, int]


class UnusableControllerError(Exception):
    """The node answers, but lacks a required API or version; another node may have it."""


class ControllerConnection:
    """Not thread-safe. Any OSError or DecodeError leaves it unusable: close it and connect anew."""

    def __init__(self, endpoint: Endpoint, client_id: str, timeout_s: float) -> None:
        self.endpoint = endpoint
        self._client_id = client_id
        self._correlation_id = 0
        self._decoder = FrameDecoder(FRAME_BYTES_MAX)
        self._socket = socket.create_connection(endpoint, timeout=timeout_s)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._offered = self._ask_versions()
        except BaseException:
            self._socket.close()
            raise

    def close(self) -> None:
        """Never raises."""
        self._socket.close()

    def version(self, api_key: ApiKey, lowest: int, highest: int) -> int:
        """The highest version of an API in [lowest, highest] that the node offers too."""
        offered = self._offered.get(api_key)
        if offered is None or offered[1] < lowest or offered[0] > highest:
            raise UnusableControllerError(
                f"{self.endpoint[0]}:{self.endpoint[1]} does not serve {api_key.name} {lowest} to {highest}"
            )
        return min(highest, offered[1])

    def ask(self, api_key: ApiKey, version: int, request: Message) -> Message:
        """The response to `request`."""
        self._correlation_id += 1
        header = RequestHeader(
            request_api_key=api_key,
            request_api_version=version,
            correlation_id=self._correlation_id,
            client_id=self._client_id,
        )
        self._socket.sendall(encode_frame(encode_request(header, request)))
        correlation_id, response = decode_response(self._receive(), api_key, version)
        if correlation_id != self._correlation_id:
            raise DecodeError(f"response to request {correlation_id} instead of {self._correlation_id}")
        return response

    def _receive(self) -> bytes:
        while True:
            data = self._socket.recv(RECEIVE_BYTES)
            if not data:
                raise ConnectionResetError(f"{self.endpoint[0]}:{self.endpoint[1]} closed the connection")
            frames = self._decoder.feed(data)
            if len(frames) > 1:
                raise DecodeError("more than one response to one request")
            if frames:
                return frames[0]

    def _ask_versions(self) -> dict[int, tuple[int, int]]:
        request = ApiVersionsRequest(client_software_name="kraftctl-spark", client_software_version="1")
        response = self.ask(ApiKey.API_VERSIONS, API_VERSIONS_VERSION, request)
        assert isinstance(response, ApiVersionsResponse)
        if response.error_code != Errors.NONE:
            raise UnusableControllerError(
                f"ApiVersions was answered with {error_of(response.error_code).name}"
            )
        return {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}
