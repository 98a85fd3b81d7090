"""Work that failed before it appended anything: a count, and lines for the log.

Such a failure is a bug on our side, and concerns one request or one timer: see
docs/adr/0005-what-fails-before-the-append-fails-alone.md.
"""

from __future__ import annotations

from types import TracebackType
from typing import Final

from kraftctl.controller.results.notice_sources import CONTROLLER

REASON_LENGTH_MAX: Final = 300
"""Characters of an exception's text in a line of the log: it may quote what a client sent."""

NAME_LENGTH_MAX: Final = 100
"""Characters of a client id or principal in such a line."""

CLOSED: Final = "the connection is closed"
"""What follows for a client that cannot be answered."""

PAUSE_MS: Final = 1_000

PAUSE_MS_MAX: Final = 60_000


class Failures:
    """`metadata_error_count` never decreases; it is Kafka's metric MetadataErrorCount."""

    def __init__(self) -> None:
        self.metadata_error_count = 0
        self._lines: list[tuple[str, str]] = []
        self._request_lines: list[str] = []

    def note(self, what: str, outcome: str, error: Exception, source: str = CONTROLLER) -> None:
        """Periodic work `what` of `source` failed with `error`; `outcome` is what follows from it."""
        self._lines.append((source, self._line(what, outcome, error)))

    def note_request(self, what: str, outcome: str, error: Exception) -> None:
        """The same for a request; clients may repeat it at any rate."""
        self._request_lines.append(self._line(what, outcome, error))

    def _line(self, what: str, outcome: str, error: Exception) -> str:
        self.metadata_error_count += 1
        return (
            f"{what} failed before anything was appended: {reason_of(error)}; {outcome} "
            f"(failures since the start: {self.metadata_error_count})"
        )

    def take_lines(self) -> list[tuple[str, str]]:
        """Source and text of the lines for the log about periodic work; each is returned once."""
        lines = self._lines
        if lines:
            self._lines = []
        return lines

    def take_request_lines(self) -> list[str]:
        """Lines for the log about requests; each is returned once."""
        lines = self._request_lines
        if lines:
            self._request_lines = []
        return lines


def pause_ms(failure_count: int) -> int:
    """Returns how long to wait after this many failures in a row: twice as long each time."""
    return min(PAUSE_MS << min(failure_count - 1, 16), PAUSE_MS_MAX)


def reason_of(error: Exception) -> str:
    """Type, text and place of an exception, on one line."""
    text = f"{type(error).__name__}: {error}".replace("\n", " ").replace("\r", " ")
    return f"{shortened(text, REASON_LENGTH_MAX)}{_place(error.__traceback__)}"


def kind_of(error: Exception) -> str:
    """Type and place of an exception whose text may have a secret."""
    return f"{type(error).__name__}{_place(error.__traceback__)}"


def shortened(text: str, length_max: int = NAME_LENGTH_MAX) -> str:
    """The first characters of `text`."""
    return text if len(text) <= length_max else text[:length_max] + "..."


def _place(innermost: TracebackType | None) -> str:
    if innermost is None:
        return ""
    while innermost.tb_next is not None:
        innermost = innermost.tb_next
    name = innermost.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
    return f" ({name}:{innermost.tb_lineno})"
