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
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.index import request_class
from kraftctl_protocol.primitives import DecodeError, OverBudgetError
from kraftctl_protocol.principal import deserialize_principal
from kraftctl_protocol.requests import UnsupportedRequestError, decode_request_head

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
        received_ms=outer.received_ms,
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
