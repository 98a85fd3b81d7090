"""UnansweredRequests: the requests that raft answers, or whose client may leave, by their ids."""

from __future__ import annotations

from kraftctl.controller.audit.audit_trail import AuditEntry, AuditTrail
from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.node.events import ClientRequest, UndecodedRequest
from kraftctl.raft.raft_node import RaftNode
from kraftctl_protocol.message import Message


class UnansweredRequests:
    """Holds the requests that come in an envelope or get an entry in the audit log.

    All others need nothing but their id to be answered, and are only where they wait.
    """

    def __init__(self, raft: RaftNode, controller: QuorumController) -> None:
        self._raft = raft
        self._controller = controller
        self._audit = AuditTrail(controller.state.config.audit.api_keys)
        self._by_id: dict[int, PendingRequest] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def begin_step(self, wall_ms: int) -> None:
        """Note the wall clock, for the entries of this step."""
        self._audit.begin_step(wall_ms)

    def received(self, event: ClientRequest | UndecodedRequest) -> PendingRequest:
        """The request of the event: a new one, or the one in an envelope whose body is decoded now."""
        if isinstance(event, UndecodedRequest):
            return PendingRequest(event.request_id, event.context, event.request, event.head)
        if event.context.envelope:
            pending = self._by_id.get(event.request_id)
            if pending is not None:
                pending.request = event.request
                return pending
        return PendingRequest(event.request_id, event.context, event.request)

    def find(self, request_id: int) -> PendingRequest | None:
        """The request with this id, if it is held."""
        return self._by_id.get(request_id)

    def hold(self, pending: PendingRequest) -> None:
        """Hold the request until `release`, if it has anything to be held for."""
        if pending.in_envelope or pending.audit is not None:
            self._by_id[pending.id] = pending

    def begin(self, pending: PendingRequest, context: RequestContext, request: Message) -> None:
        """Begin the entry for the audit log: nothing of the request is appended. Holds the request."""
        raft = self._raft
        pending.audit = self._audit.begin(
            context, request, self._controller.image, epoch=raft.epoch, end_offset=raft.end_offset
        )
        self.hold(pending)

    def release(self, pending: PendingRequest) -> AuditEntry | None:
        """Forget a request that has its response. Returns the entry to write, if there is one."""
        self._by_id.pop(pending.id, None)
        entry, pending.audit = pending.audit, None
        if entry is None:
            return None
        raft = self._raft
        belongs_here = self._audit.finish(
            entry, pending.response, high_watermark=raft.high_watermark, voters_offset=raft.voters_offset
        )
        return entry if belongs_here else None
