"""A response that is encoded once for several requests, or before it is sent; each gets a header of its
own.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import Writer

NO_VERSION: Final = -1


@mypyc_attr(acyclic=True)
class SharedResponse(Message):
    """`response` must not change any more. It is encoded again for a request of another version."""

    def __init__(self, response: Message) -> None:
        self.unknown_tagged_fields = None
        self.response = response
        self._version = NO_VERSION
        self._encoded = b""

    def write(self, writer: Writer, version: i64) -> None:
        if self._version != version:
            self._encoded = self.response.encode(version)
            self._version = version
        writer.write(self._encoded)


def encoded_once(response: Message, version: i64) -> SharedResponse:
    """Encodes the response immediately. Raises what `encode` raises."""
    shared = SharedResponse(response)
    shared.write(Writer(), version)
    return shared


def unshared(response: Message) -> Message:
    """Returns the response that a SharedResponse holds, or the response itself."""
    return response.response if isinstance(response, SharedResponse) else response
