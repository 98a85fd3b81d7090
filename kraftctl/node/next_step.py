"""What to do with a request that has arrived, as decided before anything is changed."""

from __future__ import annotations

from kraftctl.controller.results.prepared_result import PreparedResult
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.node.events import DecodeBody
from kraftctl.raft import events
from kraftctl_protocol.message import Message


class PreparedRequest:
    """A request for the controller, and what remains to be done: append the records, then answer."""

    def __init__(self, context: RequestContext, request: Message, prepared: PreparedResult) -> None:
        self.context = context
        self.request = request
        self.prepared = prepared


NextStep = Message | str | DecodeBody | events.RequestReceived | PreparedRequest
"""Send this refusal, or close the connection for a reason; decode its body first; hand it to raft; or append
records, then answer."""


def request_of_raft(request_id: int, context: RequestContext, request: Message) -> events.RequestReceived:
    """What raft must know of it."""
    return events.RequestReceived(
        request_id, context.listener, context.api_key, context.version, request, context.client_address
    )
