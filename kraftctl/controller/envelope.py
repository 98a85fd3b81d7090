"""ENVELOPE (KIP-590): requests that brokers forward on behalf of their clients.

| what is wrong | error of the envelope |
|--|--|
| the principal cannot be read | PRINCIPAL_DESERIALIZATION_FAILURE |
| the client address is neither 4 nor 16 bytes | INVALID_REQUEST |
| header or body of the inner request cannot be read | UNSUPPORTED_VERSION |
| the inner API is unknown, or not served in its version | UNSUPPORTED_VERSION |
| the inner API may not be forwarded | INVALID_REQUEST |
| the inner request is longer, or would take more memory, than one of its API may | INVALID_REQUEST |

The inner request is handled with the client's principal and address, and inherits no right of the broker.
"""

from __future__ import annotations

from typing import Final

from kraftctl.apis.api import Api
from kraftctl.apis.api_table import API_TABLE
from kraftctl.apis.request_size import DECODED_ON_LOOP_BYTES_MAX
from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.results.failures import Failures
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.index import request_class
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError, OverBudgetError
from kraftctl_protocol.principal import deserialize_principal
from kraftctl_protocol.requests import UnsupportedRequestError, decode_request_head, encode_response

ADDRESS_BYTES: Final = (4, 16)

IPV4_MAPPED: Final = bytes(10) + b"\xff\xff"
"""How an IPv6 address begins that has an IPv4 address (RFC 4291, 2.5.5.2)."""


def open_envelope(pending: PendingRequest) -> ApiError | None:
    """Put the forwarded request in the place of its envelope, or return why there is none.

    Authorize the sender first. A long request has a `head` then: its body is not decoded yet.
    """
    outer, envelope = pending.context, pending.request
    assert isinstance(envelope, EnvelopeRequest)
    try:
        principal = deserialize_principal(envelope.request_principal or b"")
    except DecodeError as error:
        return ApiError(Errors.PRINCIPAL_DESERIALIZATION_FAILURE, str(error))
    if len(envelope.client_host_address) not in ADDRESS_BYTES:
        return ApiError(Errors.INVALID_REQUEST, "the client address is not an IP address")
    try:
        head = decode_request_head(envelope.request_data)
        api = _forwarded_api(head.api_key, head.version)
        if isinstance(api, ApiError):
            return api
        size_bytes = len(envelope.request_data)
        if size_bytes > api.size.frame_bytes_max:
            return ApiError(Errors.INVALID_REQUEST, f"a request of {size_bytes} bytes, more than its API may")
        is_long = size_bytes > DECODED_ON_LOOP_BYTES_MAX
        body = head.empty_body() if is_long else head.decode_body(api.size.memory_bytes_max)
    except UnsupportedRequestError as unsupported:
        api = _forwarded_api(unsupported.api_key, unsupported.version)
        return api if isinstance(api, ApiError) else ApiError(Errors.UNSUPPORTED_VERSION, str(unsupported))
    except OverBudgetError as error:
        return ApiError(Errors.INVALID_REQUEST, str(error))
    except DecodeError as error:
        return ApiError(Errors.UNSUPPORTED_VERSION, str(error))
    pending.context = RequestContext(
        api=api,
        version=head.version,
        client_id=head.header.client_id,
        principal=principal,
        listener=outer.listener,
        client_address=_unmapped(envelope.client_host_address),
        envelope=True,
        correlation_id=head.header.correlation_id,
        forwarded_by=outer,
    )
    pending.request = body
    pending.head = head if is_long else None
    pending.in_envelope = True
    return None


def _forwarded_api(api_key: int, version: int) -> Api | ApiError:
    api = API_TABLE.get(api_key)
    if api is None and request_class(api_key) is None:
        return ApiError(Errors.UNSUPPORTED_VERSION, f"API {api_key} is not known")
    if api is None or not api.forwardable:
        return ApiError(Errors.INVALID_REQUEST, f"API {api_key} may not be forwarded")
    if not api.serves(version):
        return ApiError(Errors.UNSUPPORTED_VERSION, f"API {api_key} is not served in version {version}")
    return api


def _unmapped(address: bytes) -> bytes:
    """An IPv4 address within IPv6 as IPv4, as Java has it and as entries name its host."""
    return address[len(IPV4_MAPPED) :] if address.startswith(IPV4_MAPPED) else address


def wrap_answer(pending: PendingRequest, failures: Failures) -> EnvelopeResponse:
    """The response in its envelope; UNKNOWN_SERVER_ERROR without one, or if it cannot be encoded."""
    response = pending.response
    if response is None:
        return EnvelopeResponse(response_data=None, error_code=int(Errors.UNKNOWN_SERVER_ERROR))
    try:
        return wrap_response(pending.context, response)
    except Exception as error:  # noqa: BLE001 - the answer to a read, as any other that cannot be encoded
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
