"""Log lines with the reason of a refusal: most responses to brokers have room for an error code only.

The lines have level DEBUG, because clients can cause any number of them.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.results.failures import REASON_LENGTH_MAX, shortened
from kraftctl_protocol.api_error import ApiError

REFUSALS_NAMED_MAX: Final = 20
"""Lines per request: one request may ask for tens of thousands of things."""


def refusal_line(what: str, error: ApiError) -> str:
    """The line for one refusal of `what`. Both texts may quote what a client sent, of any length."""
    reason = shortened(error.reason, REASON_LENGTH_MAX)
    return f"Refusing {shortened(what, REASON_LENGTH_MAX)} with {error.error.name}: {reason}"


class RefusalLines:
    """The refusals of one request."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0

    def add(self, what: str, error: ApiError) -> None:
        """Note a refusal: the first ones are named, the others only counted."""
        self._count += 1
        if self._count <= REFUSALS_NAMED_MAX:
            self._lines.append(refusal_line(what, error))

    def lines(self) -> list[str]:
        """The named refusals, and the number of the others."""
        if self._count > REFUSALS_NAMED_MAX:
            return [*self._lines, f"Refusing {self._count - REFUSALS_NAMED_MAX} more in the same request"]
        return self._lines
