"""A request without a response of its own: its envelope is refused, or its connection is closed."""

from __future__ import annotations

from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message


class RefuseEnvelope:
    """The envelope is answered with this error; the request in it has no response."""

    def __init__(self, error: ApiError) -> None:
        self.error = error


class Close:
    """The connection of the request is closed; `reason` is empty if a line of the log has it already.

    An envelope around the request is answered with `error` instead.
    """

    def __init__(self, reason: str = "", error: Errors = Errors.INVALID_REQUEST) -> None:
        self.reason = reason
        self.error = error


Answer = Message | Close
"""A client gets a response, or a closed connection."""
