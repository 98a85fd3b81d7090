"""RequestGate: what to do with a request that has arrived, decided before anything is changed."""

from __future__ import annotations

from kraftctl.apis.api import Owner
from kraftctl.controller.configuration_control.alter_log_levels import concerns_loggers_only
from kraftctl.controller.envelope import open_envelope
from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.error_responses import body_to_refuse
from kraftctl.controller.results.noted_refusal import refused_node
from kraftctl.controller.results.prepared_result import PreparedResult
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.node.events import DecodeBody
from kraftctl.node.request_outcomes import Close, RefuseEnvelope
from kraftctl.raft.events import RequestReceived
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError

Decision = PreparedResult | RequestReceived | DecodeBody | RefuseEnvelope | Close
"""The node appends the records and answers, hands the request to raft, decodes its body first, refuses it, or
closes its connection."""


class RequestGate:
    """Checks the rights of requests and opens envelopes. Changes nothing but the pending request."""

    def __init__(self, controller: QuorumController) -> None:
        self._controller = controller

    def decide(self, pending: PendingRequest) -> Decision | None:
        """Returns the decision about the request; None if the controller prepares it."""
        if pending.is_undecoded():
            return self._before_decoding(pending)
        error = self._controller.why_refused(pending.context)
        if error is None and pending.context.api.owner == Owner.NODE:
            damage = open_envelope(pending)
            if damage is not None:
                self._controller.note_refusal("an envelope", damage)
                return RefuseEnvelope(damage)
            if pending.is_undecoded():
                return self._before_decoding(pending)
            error = self._controller.why_refused(pending.context)
        context, request = pending.context, pending.request
        if error is not None and error.error == Errors.NOT_CONTROLLER and concerns_loggers_only(request):
            error = None  # any controller changes the levels of its own loggers
        error = error or self._why_not_of_node(context, request)
        if error is not None:
            return self._controller.refused(pending, error)
        if context.api.owner != Owner.RAFT:
            return None
        return RequestReceived(
            pending.id,
            context.listener,
            context.api_key,
            context.version,
            request,
            context.client_address,
            context.connection_id,
        )

    def _why_not_of_node(self, context: RequestContext, request: Message) -> ApiError | None:
        state = self._controller.state
        error = state.node_principals.why_refused(context, request)
        if error is not None:
            state.noted_refusals.append(refused_node(context, error))
        return error

    def _before_decoding(self, pending: PendingRequest) -> Decision:
        """Decides by the header whether the body is worth decoding."""
        context, head = pending.context, pending.take_head()
        error = self._controller.why_refused(context, logs_grant=False)
        if error is None:
            return DecodeBody(pending.id, context, head)
        if pending.in_envelope and error.error == Errors.NOT_CONTROLLER:
            return RefuseEnvelope(error)
        try:
            pending.request = body_to_refuse(head)
        except DecodeError as damage:
            return Close(f"{error.error.name}, and {damage}")
        return self._controller.refused(pending, error)
