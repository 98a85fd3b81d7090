"""The header version of each request and response (KIP-482: flexible versions have tagged fields)."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.generated.index import request_class, response_class
from kraftctl_protocol.primitives import DecodeError

API_VERSIONS_KEY: Final = 18


def request_header_version(api_key: int, version: int) -> int:
    """Returns 2 for a flexible request, else 1; DecodeError for an unknown API."""
    message = request_class(api_key)
    if message is None:
        raise DecodeError(f"unknown API key {api_key}")
    return 2 if version >= message.FIRST_FLEXIBLE_VERSION else 1


def response_header_version(api_key: int, version: int) -> int:
    """1 for a flexible response, else 0; DecodeError for an unknown API.

    ApiVersions responses always have header version 0: the client does not know the server yet (KIP-511).
    """
    if api_key == API_VERSIONS_KEY:
        return 0
    message = response_class(api_key)
    if message is None:
        raise DecodeError(f"unknown API key {api_key}")
    return 1 if version >= message.FIRST_FLEXIBLE_VERSION else 0
