"""What a client is answered when its request fails before anything of it is appended (docs/adr/0005)."""

from __future__ import annotations

from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.results.error_responses import error_response, refusal_without_items
from kraftctl.controller.results.failures import CLOSED, Failures, shortened
from kraftctl.controller.results.response_entries import ResponseTooLongError
from kraftctl_protocol.errors import Errors


def refuse_failed(pending: PendingRequest, failures: Failures, error: Exception) -> None:
    """Answer UNKNOWN_SERVER_ERROR, or a short POLICY_VIOLATION if too much is asked; else nothing.

    A request without a response has its connection closed. `failures` gets the line for the log.
    """
    context, request = pending.context, pending.request
    who = f"client {shortened(context.client_id or '')!r} as {shortened(str(context.principal))!r}"
    what = f"{request.NAME} version {context.version} of {who}"
    if isinstance(error, ResponseTooLongError):
        short = refusal_without_items(context, Errors.POLICY_VIOLATION, str(error))
        failures.note_request(what, "answered POLICY_VIOLATION" if short else CLOSED, error)
        pending.answer(short)
        return
    try:
        refusal = error_response(context.api_key, request, context.version, Errors.UNKNOWN_SERVER_ERROR)
        refusal.encode(context.version)
    except Exception:  # noqa: BLE001 - a request that even its refusal cannot repeat
        failures.note_request(what, CLOSED, error)
        pending.answer(None)
        return
    failures.note_request(what, "answered UNKNOWN_SERVER_ERROR", error)
    pending.answer(refusal)
