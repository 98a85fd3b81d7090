"""Refusals that an operator has to know of: their lines have level WARN or INFO, where others have DEBUG.

Clients can cause any number of them, so who writes the lines limits them, for each kind and sender.
"""

from __future__ import annotations

import ipaddress
from typing import Final

from kraftctl.controller.results.failures import shortened
from kraftctl.controller.results.refusal_lines import refusal_line
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors

ENVELOPE: Final = "envelope"
"""A broker forwards a request of a principal that may not arrive so."""

NODE: Final = "node"
"""A sender claims the id of a node whose principal it is not."""

TOKEN: Final = "token"
"""A request about delegation tokens."""

KINDS: Final = (ENVELOPE, NODE, TOKEN)

NEED_AN_OPERATOR: Final = frozenset(
    [Errors.POLICY_VIOLATION, Errors.DELEGATION_TOKEN_AUTH_DISABLED, Errors.UNSUPPORTED_VERSION]
)
"""Refusals of token requests that a change of this controller ends; the others concern a client alone."""


class NotedRefusal:
    """`sender` is for whom lines are limited."""

    def __init__(self, kind: str, sender: str, text: str, *, is_warning: bool = True) -> None:
        self.kind = kind
        self.sender = sender
        self.text = text
        self.is_warning = is_warning


NONE_NOTED: Final[list[NotedRefusal]] = []


def refused_envelope(context: RequestContext, error: ApiError) -> NotedRefusal:
    """Returns the refusal of a request in an envelope, because of the principal that it names."""
    outer = context.forwarded_by
    assert outer is not None, "it came in an envelope"
    broker, principal = shortened(str(outer.principal)), shortened(str(context.principal))
    return NotedRefusal(ENVELOPE, f"{broker} for {principal}", _envelope_text(context, outer, error))


def _envelope_text(context: RequestContext, outer: RequestContext, error: ApiError) -> str:
    broker, principal = shortened(str(outer.principal)), shortened(str(context.principal))
    return (
        f"Refusing {context.api.name} as {principal}, which {broker}{_from(outer)} forwards for a client"
        f"{_from(context)}: {error.reason}. Next step: let the tools of {principal} connect to controllers"
        f" (--bootstrap-controller); if it has used none, somebody has the key or password of {broker}:"
        " replace it, and stop accepting the former one"
    )


def refused_node(context: RequestContext, error: ApiError) -> NotedRefusal:
    """Returns the refusal of a request whose sender claims the id of another node."""
    return NotedRefusal(NODE, shortened(str(context.principal)), _node_text(context, error))


def _node_text(context: RequestContext, error: ApiError) -> str:
    sender = shortened(str(context.principal))
    return (
        f"Refusing {context.api.name} of {sender}{_from(context)}: {error.reason}. Next step: correct the"
        f" node.id there, or its certificate or user; if no one has changed them, somebody has the key or"
        f" password of {sender}: replace it, and stop accepting the former one"
    )


def refused_token(context: RequestContext, what: str, error: ApiError) -> NotedRefusal:
    """Returns the refusal of a request about delegation tokens."""
    sender = shortened(str(context.principal))
    is_warning = error.error in NEED_AN_OPERATOR
    text = _token_text(context, what, error)
    return NotedRefusal(TOKEN, f"{sender} {what} {error.error.name}", text, is_warning=is_warning)


def _token_text(context: RequestContext, what: str, error: ApiError) -> str:
    return f"Delegation tokens: {refusal_line(f'{what}{_from(context)}', error)}"


def _from(context: RequestContext) -> str:
    address = context.client_address
    return f" at {ipaddress.ip_address(address)}" if address else ""
