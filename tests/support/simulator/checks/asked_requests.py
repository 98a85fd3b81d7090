"""Requests that wait for a response, as the controller has received them, and what was known then."""

from __future__ import annotations

from typing import Any

from kraftctl.node.events import ClientRequest
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.requests import (
    ParsedRequest,
    UnsupportedRequestError,
    decode_request,
    decode_response,
)
from tests.support.simulator.checks.checked_replica import CheckedReplica
from tests.support.simulator.checks.leaving import NOTHING_LEAVES, leaving_of

LEADER = "Leader"


class AskedRequest:
    """`request` is the one in the envelope, if it came in one.

    `image_end` is how far the image of the controller went, and `log_end` its log, before it handled the
    request; `committed_end` is how much of that it knew to be committed. `acknowledged_end` is how much was
    acknowledged to anybody by then.
    """

    __slots__ = (
        "acknowledged_end",
        "acls_are_loaded",
        "api_key",
        "committed_end",
        "epoch",
        "image_end",
        "is_enveloped",
        "leaving",
        "listener",
        "log_end",
        "own_end",
        "renounced",
        "request",
        "state_name",
        "version",
        "was_active",
    )

    def __init__(self, replica: CheckedReplica, event: ClientRequest, acknowledged_end: int) -> None:
        self.request = event.request
        self.version = event.context.version
        self.listener = event.context.listener
        self.is_enveloped = False
        inner = _opened(event.request)
        if inner is not None:
            self.is_enveloped = True
            self.request, self.version = inner.body, inner.header.request_api_version
        self.api_key = self.request.API_KEY
        self.log_end = replica.log.end
        self.image_end = min(replica.controller.next_replay_offset, replica.log.end)
        self.committed_end = self.image_end
        if replica.state_name == LEADER:
            self.committed_end = max(0, min(self.image_end, replica.high_watermark))
        self.acknowledged_end = acknowledged_end
        self.own_end = 0
        """Where the records end that its own step appended."""
        self.was_active = replica.active
        self.acls_are_loaded = _acls_are_loaded(replica.controller)
        self.leaving = leaving_of(replica.controller) if replica.active else NOTHING_LEAVES
        self.renounced = replica.renounced_count
        self.epoch = replica.epoch
        self.state_name = replica.state_name

    def response_in(self, response: Message) -> Message | None:
        """What answers `request`; None if the envelope was refused."""
        if not self.is_enveloped or not isinstance(response, EnvelopeResponse):
            return response
        if response.error_code != 0 or response.response_data is None:
            return None
        return decode_response(response.response_data, self.api_key, self.version)[1]


def _acls_are_loaded(controller: Any) -> bool:
    """Until then only super users have rights. Scripted controllers have no authorizer."""
    state = getattr(controller, "state", None)
    return state is None or bool(state.authorizer.ready)


def _opened(request: Message) -> ParsedRequest | None:
    """None if it is no envelope, or one with something that cannot be read."""
    if not isinstance(request, EnvelopeRequest):
        return None
    try:
        return decode_request(request.request_data)
    except (DecodeError, UnsupportedRequestError):
        return None
