"""ENVELOPE (KIP-590): requests that brokers forward on behalf of their clients.

| what is wrong | error of the envelope |
|--|--|
| the principal cannot be read | PRINCIPAL_DESERIALIZATION_FAILURE |
| the client address is neither 4 nor 16 bytes | INVALID_REQUEST |
| header or body of the inner request cannot be read | UNSUPPORTED_VERSION |
| the inner API is unknown, or not served in its version | UNSUPPORTED_VERSION |
| the inner API may not be forwarded | INVALID_REQUEST |

The inner request is handled with the client's principal and address, and inherits no right of the broker.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.api_versions import is_served
from kraftctl.controller.request_context import RequestContext
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.index import request_class
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.principal import deserialize_principal
from kraftctl_protocol.requests import UnsupportedRequestError, decode_request, encode_response

FORWARDABLE: Final = frozenset(
    {
        ApiKey.CREATE_TOPICS,
        ApiKey.DELETE_TOPICS,
        ApiKey.CREATE_ACLS,
        ApiKey.DELETE_ACLS,
        ApiKey.ALTER_CONFIGS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        ApiKey.ELECT_LEADERS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.UPDATE_FEATURES,
        ApiKey.UNREGISTER_BROKER,
        ApiKey.ALLOCATE_PRODUCER_IDS,
        ApiKey.ADD_RAFT_VOTER,
        ApiKey.REMOVE_RAFT_VOTER,
    }
)

ADDRESS_BYTES: Final = (4, 16)


class Envelope:
    """The inner request and what is needed to answer it."""

    def __init__(self, context: RequestContext, request: Message, correlation_id: int) -> None:
        self.context = context
        self.request = request
        self.correlation_id = correlation_id


def open_envelope(outer: RequestContext, request: Message) -> Envelope | EnvelopeResponse:
    """The forwarded request, or the answer that says why there is none. Authorize the sender before."""
    assert isinstance(request, EnvelopeRequest)
    opened = _open(outer, request)
    if isinstance(opened, ApiError):
        return EnvelopeResponse(response_data=None, error_code=opened.code)
    return opened


def _open(outer: RequestContext, envelope: EnvelopeRequest) -> Envelope | ApiError:
    try:
        principal = deserialize_principal(envelope.request_principal or b"")
    except DecodeError as error:
        return ApiError(Errors.PRINCIPAL_DESERIALIZATION_FAILURE, str(error))
    if len(envelope.client_host_address) not in ADDRESS_BYTES:
        return ApiError(Errors.INVALID_REQUEST, "the client address is no IP address")
    try:
        parsed = decode_request(envelope.request_data)
    except UnsupportedRequestError as unsupported:
        if request_class(unsupported.api_key) is not None and unsupported.api_key not in FORWARDABLE:
            return _not_forwardable(unsupported.api_key)
        return ApiError(Errors.UNSUPPORTED_VERSION, str(unsupported))
    except DecodeError as error:
        return ApiError(Errors.UNSUPPORTED_VERSION, str(error))
    if parsed.api_key not in FORWARDABLE:
        return _not_forwardable(parsed.api_key)
    if not is_served(parsed.api_key, parsed.version):
        reason = f"API {parsed.api_key} is not served in version {parsed.version}"
        return ApiError(Errors.UNSUPPORTED_VERSION, reason)
    context = RequestContext(
        api_key=parsed.api_key,
        version=parsed.version,
        client_id=parsed.header.client_id,
        principal=principal,
        listener=outer.listener,
        client_address=envelope.client_host_address,
        envelope=True,
    )
    return Envelope(context, parsed.body, parsed.header.correlation_id)


def _not_forwardable(api_key: int) -> ApiError:
    return ApiError(Errors.INVALID_REQUEST, f"API {api_key} may not be forwarded")


def wrap_response(envelope: Envelope, response: Message) -> EnvelopeResponse:
    """The inner response in its envelope. Raises what encoding it raises.

    NOT_CONTROLLER anywhere in it becomes the error of the envelope: the broker then looks for the active
    controller and tries again, and the client never learns of it.
    """
    context = envelope.context
    wrong_controller = (
        Errors.NOT_LEADER_OR_FOLLOWER if context.api_key == ApiKey.DESCRIBE_QUORUM else Errors.NOT_CONTROLLER
    )
    if has_error(response, int(wrong_controller)):
        return EnvelopeResponse(response_data=None, error_code=int(Errors.NOT_CONTROLLER))
    data = encode_response(envelope.correlation_id, context.api_key, context.version, response)
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
