"""One connection to a node, without its socket: encodes requests and decodes responses."""

from __future__ import annotations

from kraftctl_protocol.frames import FrameDecoder
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.peer_limits import (
    RESPONSE_BYTES_MAX,
    response_bytes_max,
    response_memory_bytes_max,
)
from kraftctl_protocol.primitives import DecodeError, EncodeError
from kraftctl_protocol.requests import decode_response, encode_request
from kraftctl_security.peer_versions import API_VERSIONS_VERSION, PeerVersions, api_versions_request


class PeerCodec:
    """Handles one request at a time; the first asks for the peer's versions. Payloads have no size prefix.

    `software` is the name and the version that the peer sees (KIP-511). `response_bytes_max` is the largest
    size of a response to the latest request: a larger one is not to be received.
    """

    def __init__(self, client_id: str, software: tuple[str, str]) -> None:
        self._client_id = client_id
        self._software = software
        self.response_bytes_max = RESPONSE_BYTES_MAX
        self._frames = FrameDecoder(RESPONSE_BYTES_MAX)
        self._request = ""
        self._correlation_id = 0
        self._api_key = -1
        self._version = -1
        self._versions: PeerVersions | None = None

    @property
    def is_of_broker(self) -> bool:
        """Whether the peer is a broker, as its versions say."""
        return self._versions is not None and self._versions.is_of_broker

    def encode_versions_request(self) -> bytes:
        """Asks which requests the peer understands (KIP-511); `decode_versions` takes the response."""
        return self._encode(api_versions_request(*self._software), API_VERSIONS_VERSION)

    def decode_versions(self, payload: bytes) -> None:
        """Takes the response to ApiVersions. Raises DecodeError when it cannot be used."""
        self._versions = PeerVersions(self.decode(payload))

    def encode(self, request: Message, lowest_version: int = 0) -> bytes | None:
        """Encodes in the highest common version; None when the peer does not know it, or not all of its
        fields.

        It is also None when that version is before `lowest_version`.
        """
        assert self._versions is not None, "versions come first"
        version = self._versions.version_of(request)
        if version is None or version < lowest_version:
            return None
        try:
            return self._encode(request, version)
        except EncodeError:
            return None

    def _encode(self, request: Message, version: int) -> bytes:
        self._correlation_id += 1
        self._api_key = request.API_KEY
        self._version = version
        self._request = request.NAME
        self.response_bytes_max = self._frames.max_frame_bytes = response_bytes_max(request)
        header = RequestHeader(
            request_api_key=request.API_KEY,
            request_api_version=version,
            correlation_id=self._correlation_id,
            client_id=self._client_id,
        )
        return encode_request(header, request)

    def receive(self, data: bytes) -> bytes | None:
        """Takes bytes of the stream; returns the response once it has come, not decoded. Raises
        DecodeError.
        """
        try:
            frames = self._frames.feed(data)
        except DecodeError as error:
            raise DecodeError(f"the response to {self._request} is unusable: {error}") from error
        if len(frames) > 1 or (frames and self._frames.held_bytes):
            raise DecodeError("more than one response to one request")
        return frames[0] if frames else None

    def check_size(self, size_bytes: int) -> None:
        """Raises DecodeError when a response to the latest request may not have this size."""
        if not 0 <= size_bytes <= self.response_bytes_max:
            raise DecodeError(
                f"a response of {size_bytes} bytes to {self._request}, which may have"
                f" {self.response_bytes_max}"
            )

    def decode(self, payload: bytes) -> Message:
        """Returns the response to the request that was encoded last. Raises DecodeError."""
        self.check_size(len(payload))
        memory_bytes_max = response_memory_bytes_max(self._request, len(payload))
        correlation_id, response = decode_response(payload, self._api_key, self._version, memory_bytes_max)
        if correlation_id != self._correlation_id:
            raise DecodeError(f"response {correlation_id} to request {self._correlation_id}")
        return response
