"""The response to a forwarded request, within the EnvelopeResponse for the broker (KIP-590)."""

from __future__ import annotations

from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.results.failures import Failures
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import encode_response


def enclose_response(pending: PendingRequest, failures: Failures) -> EnvelopeResponse:
    """The response in its envelope; UNKNOWN_SERVER_ERROR without one, or if it cannot be encoded."""
    response = pending.response
    if response is None:
        return EnvelopeResponse(response_data=None, error_code=int(Errors.UNKNOWN_SERVER_ERROR))
    try:
        return wrap_response(pending.context, response)
    except Exception as error:  # noqa: BLE001 - the response to a read, as any other that cannot be encoded
        what = f"Encoding {response.NAME} version {pending.context.version} into its envelope"
        failures.note_request(what, "answered UNKNOWN_SERVER_ERROR", error)
        return EnvelopeResponse(response_data=None, error_code=int(Errors.UNKNOWN_SERVER_ERROR))


def wrap_response(context: RequestContext, response: Message) -> EnvelopeResponse:
    """The response to the inner request in its envelope. Raises whatever encoding the response raises.

    NOT_CONTROLLER anywhere in it becomes the error of the envelope: the broker then looks for the active
    controller and tries again, and the client never sees it.
    """
    wrong_controller = (
        Errors.NOT_LEADER_OR_FOLLOWER if context.api_key == ApiKey.DESCRIBE_QUORUM else Errors.NOT_CONTROLLER
    )
    if has_error(response, int(wrong_controller)):
        return EnvelopeResponse(response_data=None, error_code=int(Errors.NOT_CONTROLLER))
    data = encode_response(context.correlation_id, context.api_key, context.version, response)
    return EnvelopeResponse(response_data=data)


def has_error(message: Message, code: int) -> bool:
    """Whether an `error_code` at any depth of `message` is `code`."""
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if field.name == "error_code":
            if value == code:
                return True
        elif isinstance(value, Message):
            if has_error(value, code):
                return True
        elif field.struct is not None and isinstance(value, list):
            for item in value:
                if has_error(item, code):
                    return True
    return False
