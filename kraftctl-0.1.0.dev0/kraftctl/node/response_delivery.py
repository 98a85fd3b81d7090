"""ResponseDelivery: sends each response, closes its audit entry and wraps it in its envelope."""

from __future__ import annotations

from kraftctl.controller.audit.audit_trail import AuditTrail
from kraftctl.controller.envelope_responses import enclose_response
from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.node.events import Audited, BodyRefused, ClientRequest, CloseConnection, UndecodedRequest
from kraftctl.node.outbox import Outbox
from kraftctl.node.request_outcomes import Close
from kraftctl.raft.effects import Respond
from kraftctl.raft.raft_node import RaftNode
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.message import Message


class ResponseDelivery:
    """Holds by id the requests that come in an envelope or get an entry in the audit log.

    All others are answered by id alone, and are only where they wait.
    """

    def __init__(self, raft: RaftNode, controller: QuorumController, outbox: Outbox) -> None:
        self._raft = raft
        self._controller = controller
        self._outbox = outbox
        self._audited_api_keys = controller.state.config.audit.api_keys
        self.audit = AuditTrail()
        self._held: dict[int, PendingRequest] = {}

    @property
    def held_count(self) -> int:
        """Returns the number of requests that are held by id."""
        return len(self._held)

    def received(self, event: ClientRequest | UndecodedRequest) -> PendingRequest:
        """Returns the request of the event: a new one, or one in an envelope whose body is now decoded."""
        if isinstance(event, UndecodedRequest):
            return PendingRequest(event.request_id, event.context, event.request, event.head)
        if event.context.envelope:
            pending = self._held.get(event.request_id)
            if pending is not None:
                pending.request = event.request
                return pending
        return PendingRequest(event.request_id, event.context, event.request)

    def await_body(self, pending: PendingRequest) -> None:
        """Holds the request in its envelope until its body is decoded or refused."""
        if pending.in_envelope:
            self._held[pending.id] = pending

    def begin(self, pending: PendingRequest, context: RequestContext, request: Message) -> None:
        """Begins the audit entry of the request before anything of it is appended, and holds the request."""
        if context.api.key in self._audited_api_keys:
            raft = self._raft
            pending.audit = self.audit.begin(
                context, request, self._controller.image, epoch=raft.epoch, end_offset=raft.end_offset
            )
            self._held[pending.id] = pending
        elif pending.in_envelope:
            self._held[pending.id] = pending

    def answer(self, pending: PendingRequest, now_ms: int) -> None:
        """Sends the response once everything that it reports is committed."""
        assert pending.response is not None, "every request has a response"
        if pending.in_envelope:
            pending.encoded = None  # it is encoded once more, into the response around it
        if not self._controller.park(pending, now_ms):
            self.respond(pending)

    def release(self, answered: list[PendingRequest]) -> None:
        """Sends responses that have waited."""
        for pending in answered:
            self.respond(pending)

    def respond(self, pending: PendingRequest) -> None:
        """Sends the response now, or closes the connection if there is none."""
        response, encoded = pending.response, pending.encoded
        if pending.audit is not None or pending.in_envelope:
            self._end(pending)
            if pending.in_envelope:
                response, encoded = enclose_response(pending, self._controller.failures), None
        if response is None:
            self._outbox.add(CloseConnection(pending.id))
        else:
            assert encoded is None or encoded.response is response, "the response is what was encoded"
            self._outbox.add(Respond(pending.id, response, encoded))

    def raft_answered(self, effect: Respond) -> None:
        """Sends a response of raft, in its envelope if there is one."""
        pending = self._held.get(effect.request_id)
        if pending is None:
            self._outbox.add(effect)
        else:
            pending.response = effect.response
            self.respond(pending)

    def refuse_envelope(self, pending: PendingRequest, error: ApiError) -> None:
        """Answers the envelope itself with `error`."""
        pending.response = EnvelopeResponse(response_data=None, error_code=error.code)
        self._end(pending)
        pending.in_envelope = False
        self.respond(pending)

    def close(self, pending: PendingRequest, close: Close) -> None:
        """Closes the connection of a request that cannot be answered, or refuses the envelope around it."""
        self._end(pending)
        if pending.in_envelope:
            refusal = ApiError(close.error, close.reason)
            self._controller.note_refusal("an envelope", refusal)
            self._outbox.add(Respond(pending.id, EnvelopeResponse(None, refusal.code)))
        else:
            self._outbox.add(CloseConnection(pending.id, close.reason))

    def body_refused(self, event: BodyRefused) -> None:
        """Closes the connection of a request whose body cannot be decoded, or refuses its envelope."""
        pending = self._held.get(event.request_id)
        if pending is None:
            self._outbox.add(CloseConnection(event.request_id, event.reason))
        else:
            self.close(pending, Close(event.reason, event.error))

    def client_left(self, request_id: int) -> None:
        """Drops the response of a client that is gone; changes of its request and its audit entry stay."""
        is_dropped = self._controller.client_left(request_id)
        pending = self._held.get(request_id)
        if pending is None:
            return
        pending.in_envelope = False
        if is_dropped or pending.audit is None:
            self._end(pending)

    def _end(self, pending: PendingRequest) -> None:
        """Forgets a request that has its response, or never gets one, and writes its audit entry."""
        self._held.pop(pending.id, None)
        entry, pending.audit = pending.audit, None
        raft = self._raft
        if entry is not None and self.audit.finish(
            entry, pending.response, high_watermark=raft.high_watermark, voters_offset=raft.voters_offset
        ):
            self._outbox.add(Audited(entry))
