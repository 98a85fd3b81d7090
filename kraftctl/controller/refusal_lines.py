"""Why a request is refused, for the log: most responses to brokers have room for an error code only.

The lines are of level DEBUG, as clients cause them: an operator turns them on to see why.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.api_error import ApiError

REFUSALS_NAMED_MAX: Final = 20
"""Lines per request: one request may ask for tens of thousands of things."""


def refusal_line(what: str, error: ApiError) -> str:
    """`what` is refused with `error`."""
    return f"Refusing {what} with {error.error.name}: {error.message}"


class RefusalLines:
    """The refusals of one request."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0

    def add(self, what: str, error: ApiError) -> None:
        """Name it, or count it when there are many."""
        self._count += 1
        if self._count <= REFUSALS_NAMED_MAX:
            self._lines.append(refusal_line(what, error))

    def lines(self) -> list[str]:
        """The named ones, and how many there are besides."""
        if self._count > REFUSALS_NAMED_MAX:
            return [*self._lines, f"Refusing {self._count - REFUSALS_NAMED_MAX} more in the same request"]
        return self._lines
