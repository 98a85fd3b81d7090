"""A refusal as a value: Kafka's error code plus a reason a human can act on."""

from __future__ import annotations

from kraftctl_protocol.errors import Errors


class ApiError:
    """The error of one topic, partition or resource inside a response; NONE when it succeeded.

    A refusal without a reason of its own has no message: clients show their own text for its code.
    """

    def __init__(self, error: Errors, message: str | None = None) -> None:
        self.error = error
        self.message = message

    @property
    def code(self) -> int:
        return int(self.error)

    @property
    def reason(self) -> str:
        """The message, or what the code means, for a line of our own."""
        return self.error.message if self.message is None else self.message

    @property
    def failed(self) -> bool:
        return self.error != Errors.NONE

    def __repr__(self) -> str:
        return f"ApiError({self.error.name}, {self.message!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApiError) and self.error == other.error and self.message == other.message

    def __hash__(self) -> int:
        return hash((int(self.error), self.message))
