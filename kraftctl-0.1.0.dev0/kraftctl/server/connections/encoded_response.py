"""Encodes a response; one that cannot be encoded becomes an error."""

from __future__ import annotations

import logging

from kraftctl.controller.results.error_responses import error_response
from kraftctl.controller.results.failures import reason_of
from kraftctl.server.logs.rate_limited_log import RateLimitedLog
from kraftctl.server.loop.client_requests import ReceivedRequest
from kraftctl.server.loop.long_responses import encode_pieces
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from kraftctl_protocol.shared_response import unshared


def encoded_response(
    request: ReceivedRequest, response: Message, failures: RateLimitedLog
) -> list[bytes] | None:
    """Returns the response's bytes, or those of UNKNOWN_SERVER_ERROR; None when neither can be encoded."""
    parsed = request.parsed
    try:
        return encode_pieces(request, response)
    except Exception as error:  # noqa: BLE001 - a bug on our side that concerns this one response
        failures.log(
            logging.ERROR,
            "Cannot encode %s in version %d: %s",
            unshared(response).NAME,
            parsed.version,
            reason_of(error),
        )
    try:
        refusal = error_response(parsed.api_key, parsed.body, parsed.version, Errors.UNKNOWN_SERVER_ERROR)
        return [request.encode_response(refusal)]
    except Exception as error:  # noqa: BLE001 - it repeats names of the request, which may be the cause
        failures.log(
            logging.ERROR, "Cannot encode a refusal of %s either: %s", parsed.body.NAME, reason_of(error)
        )
        return None
