"""AdminError: an operation on a running cluster that has failed, in a sentence for the operator."""

from __future__ import annotations

from kraftctl_protocol.errors import Errors
from kraftctl_security.authentication_failures import plain_text


class AdminError(Exception):
    """The text names what was asked, the reason and, where there is one, the next step."""

    status = 1
    """The exit status of a command that it ends."""


class RefusedError(AdminError):
    """The cluster has refused a request; `error` is Kafka's code, `reason` its text."""

    def __init__(self, what: str, error: Errors, message: str | None) -> None:
        self.error = error
        self.reason = plain_text(message or error.message)
        super().__init__(f"{what} was refused with {error.name}: {self.reason}")


class UnavailableError(AdminError):
    """No node gave a usable response in time."""
