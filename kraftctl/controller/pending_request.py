"""PendingRequest: one request of a client, from the step that takes it up until its response leaves."""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from kraftctl.controller.audit.audit_trail import AuditEntry
from kraftctl.controller.results.error_responses import error_response
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import RequestHead
from kraftctl_protocol.shared_response import SharedResponse

NO_PARTITIONS: Final = AlterPartitionRequest()
"""One request replaces all whose partitions are decided; it is never changed."""


@mypyc_attr(acyclic=True, free_list_len=1)
class PendingRequest:
    """Everything that node and controller know of one request. `id` is unique among unanswered requests.

    | field | is |
    |--|--|
    | `context`, `request` | the inner ones once an envelope is opened; without a decoded body, an empty one |
    | `head` | not None until it is decided whether the body is worth decoding |
    | `in_envelope` | the response has to be put into an EnvelopeResponse |
    | `audit` | the entry for the audit log, if the request gets one and it is not written yet |
    | `response` | None until there is one; None in the end closes the connection |
    | `encoded` | the bytes of `response`, if it was encoded before the append |
    | `round` | of raft's `LeadershipConfirmed`, for which the response waits; 0 without one, -1 never |
    | `answered` | the response has left: it must not be answered again |
    """

    def __init__(
        self, request_id: int, context: RequestContext, request: Message, head: RequestHead | None = None
    ) -> None:
        self.id = request_id
        self.context = context
        self.request = request
        self.head = head
        self.in_envelope = False
        self.audit: AuditEntry | None = None
        self.response: Message | None = None
        self.encoded: SharedResponse | None = None
        self.round = 0
        self.answered = False

    def is_undecoded(self) -> bool:
        """Returns whether it is not decided yet that the body is decoded."""
        return self.head is not None

    def take_head(self) -> RequestHead:
        """Returns the request whose body is not decoded. Call it only once."""
        head, self.head = self.head, None
        assert head is not None, "the body is decoded already"
        return head

    def forget_partitions(self) -> None:
        """Frees the body of an AlterPartition that only waits for its commit, before its memory is cold.

        No other frequent request is as large, and no refusal of it repeats anything.
        """
        if type(self.request) is AlterPartitionRequest:
            self.request = NO_PARTITIONS

    def answer(self, response: Message | None) -> None:
        """Replaces the response; None closes the connection."""
        self.response = response
        self.encoded = None

    def refuse(self, error: Errors) -> None:
        """Replaces the response by `error`, in the version of the request: its changes may be undone."""
        self.answer(error_response(self.context.api_key, self.request, self.context.version, error))
