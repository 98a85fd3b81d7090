"""A response that waits until everything it reports is committed."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from kraftctl.controller.results.error_responses import error_response
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from kraftctl_protocol.shared_response import SharedResponse


@mypyc_attr(acyclic=True)
class ParkedResponse:
    """`request_id` is the caller's; the request is kept so that it can be refused in its own version.

    Once `answered` it must not be answered again. `response` is None until `refuse` when there is none yet.
    `encoded`, if any, is the same response.
    """

    def __init__(
        self,
        request_id: int,
        context: RequestContext,
        request: Message,
        response: Message | None,
        encoded: SharedResponse | None = None,
    ) -> None:
        self.request_id = request_id
        self.context = context
        self.request = request
        self.response = response
        self.encoded = encoded
        self.answered = False

    def refuse(self, error: Errors) -> None:
        """Answer `error` instead: the changes of the request are undone."""
        self.response = error_response(self.context.api_key, self.request, self.context.version, error)
        self.encoded = None
