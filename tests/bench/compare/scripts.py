"""What one connection of the load generator sends, request after request, and how each answer is checked."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterable
from typing import Final, Protocol, TypeAlias

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from tests.bench.compare.counted import Counted
from tests.bench.compare.frames import (
    ANSWER_BODY,
    REQUEST_CORRELATION_ID,
    UnexpectedResponseError,
    decoded,
    refuse_other,
)

Frame = bytes | bytearray
Notes: TypeAlias = "array[float]"
"""Numbers whose meaning is that of the script."""
NOTHING: Final[Notes] = array("d")


class Script(Protocol):
    """At most one of its requests is in flight. Its buffers may be used again for the next request."""

    correlation_at: int
    """The position of the correlation id in its frames."""
    interval_s: float
    """From one request to the next; 0: as soon as it is answered."""

    def frame(self) -> bytearray | None:
        """The next request; None when there is none for now."""

    def check(self, answer: Frame) -> None:
        """Raises UnexpectedResponseError."""

    def finish(self) -> Notes:
        """After a window: checks what would have cost time within it. Returns what it has noted in it."""


class Repeated:
    """The same request for ever, always with the same response."""

    correlation_at = REQUEST_CORRELATION_ID

    def __init__(
        self, request: bytes, answer: bytes, api_key: int, version: int, interval_s: float = 0.0
    ) -> None:
        self.interval_s = interval_s
        self._request = bytearray(request)
        self._answer = answer
        self._expected = answer[ANSWER_BODY:]
        self._api = api_key, version

    def frame(self) -> bytearray:
        return self._request

    def check(self, answer: Frame) -> None:
        if answer[ANSWER_BODY:] != self._expected:
            refuse_other(answer, self._answer, *self._api)

    def finish(self) -> Notes:
        """Nothing: all answers are checked already."""
        return NOTHING


class Stepping:
    """Requests of several kinds in turn, each of which counts one on: AlterPartition and its partition epoch.

    A kind is a request, which has the value of before, and its response, which has the next.
    """

    correlation_at = REQUEST_CORRELATION_ID
    interval_s = 0.0

    def __init__(self, kinds: list[tuple[Counted, Counted]], api_key: int, version: int) -> None:
        self._kinds = kinds
        self._api = api_key, version
        self._value = 0
        self._answered_s: Notes = array("d")

    def frame(self) -> bytearray:
        request, _ = self._kinds[self._value % len(self._kinds)]
        return request.at(self._value)

    def check(self, answer: Frame) -> None:
        _, expected = self._kinds[self._value % len(self._kinds)]
        self._value += 1
        self._answered_s.append(time.monotonic())
        refuse_other(answer, expected.at(self._value), *self._api)

    def finish(self) -> Notes:
        """When each answer came."""
        noted, self._answered_s = self._answered_s, array("d")
        return noted


class OneByOne:
    """Each of some requests once; the error codes of their responses are checked afterwards.

    For responses with ids that the controller chooses.
    """

    correlation_at = REQUEST_CORRELATION_ID
    interval_s = 0.0

    def __init__(self, requests: Iterable[bytes], api_key: int, version: int) -> None:
        self._requests = [bytearray(request) for request in reversed(list(requests))]
        self._responses: list[bytes] = []
        self._api = api_key, version

    def frame(self) -> bytearray | None:
        return self._requests.pop() if self._requests else None

    def check(self, answer: Frame) -> None:
        self._responses.append(bytes(answer))

    def finish(self) -> Notes:
        for answer in self._responses:
            refuse_errors(decoded(answer, *self._api))
        self._responses.clear()
        return NOTHING


class Echoed:
    """Frames of a size that come back as they are: the floor of a server that does nothing."""

    correlation_at = 4
    interval_s = 0.0

    def __init__(self, frame_bytes: int) -> None:
        self._frame = bytearray((frame_bytes - 4).to_bytes(4, "big") + bytes(frame_bytes - 4))

    def frame(self) -> bytearray:
        return self._frame

    def check(self, answer: Frame) -> None:
        assert answer == self._frame

    def finish(self) -> Notes:
        """Nothing: all answers are checked already."""
        return NOTHING


def refuse_errors(answer: Message) -> None:
    """Raises UnexpectedResponseError when an entry of `topics` has an error code."""
    wrong = sorted({entry.error_code for entry in answer.topics} - {Errors.NONE})
    if wrong:
        raise UnexpectedResponseError(f"error codes {wrong} among {len(answer.topics)} entries")
