"""One connection to a controller on asyncio: requests of any API, their responses, and how long they took."""

from __future__ import annotations

import asyncio
import struct
from typing import TypeVar

from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import decode_response, encode_request

M = TypeVar("M", bound=Message)


class Connection:
    """At most one request in flight, as brokers have it on a connection to a controller."""

    def __init__(self, port: int, client_id: str) -> None:
        self._port = port
        self._client_id = client_id
        self._correlation_id = 0
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def call(self, request: Message, version: int, answer: type[M], timeout_s: float) -> M:
        """Connects if necessary. Raises OSError when the connection is lost, TimeoutError after `timeout_s`;
        both close it."""
        self._correlation_id += 1
        header = RequestHeader(
            request_api_key=request.API_KEY,
            request_api_version=version,
            correlation_id=self._correlation_id,
            client_id=self._client_id,
        )
        try:
            async with asyncio.timeout(timeout_s):
                payload = await self._exchange(encode_frame(encode_request(header, request)))
        except BaseException:
            self.close()
            raise
        correlation_id, response = decode_response(payload, request.API_KEY, version)
        assert correlation_id == self._correlation_id
        assert isinstance(response, answer)
        return response

    def close(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()
        self._reader = self._writer = None

    async def _exchange(self, frame: bytes) -> bytes:
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writer.write(frame)
        try:
            (size,) = struct.unpack(">i", await self._reader.readexactly(4))
            return await self._reader.readexactly(size)
        except asyncio.IncompleteReadError:
            raise ConnectionError("the controller has closed the connection") from None
