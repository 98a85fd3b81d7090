"""KIP-511: which requests another node understands; each is sent in the highest common version."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.index import response_class
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError

API_VERSIONS_VERSION: Final = 3
"""Every release with a KRaft controller supports this version."""


def api_versions_request(software_name: str, software_version: str) -> ApiVersionsRequest:
    """Returns the first request of each connection, in version API_VERSIONS_VERSION."""
    return ApiVersionsRequest(client_software_name=software_name, client_software_version=software_version)


class PeerVersions:
    """The versions that a peer has reported. Raises DecodeError if the response reports none."""

    def __init__(self, response: Message) -> None:
        if not isinstance(response, ApiVersionsResponse) or response.error_code != Errors.NONE:
            raise DecodeError(f"unusable response to ApiVersions: {response!r}")
        self._ranges = {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}

    @property
    def is_of_broker(self) -> bool:
        """Whether the peer is a broker: no controller serves Produce."""
        return ApiKey.PRODUCE in self._ranges

    def version_of(self, request: Message) -> int | None:
        """Returns the highest version of this request that both sides know; None if there is none."""
        low, high = self._ranges.get(request.API_KEY, (0, -1))
        version = min(high, request.HIGHEST_VERSION)
        return version if version >= max(low, request.LOWEST_VERSION) else None


def unsupported(api_key: int) -> Message:
    """Returns UNSUPPORTED_VERSION, as if from the peer, for a request that cannot be sent to it.

    For example, a pre-vote cannot be expressed in the versions of an older controller (KIP-996).
    """
    response_type = response_class(api_key)
    assert response_type is not None, f"there is no request {api_key}"
    response = response_type()
    response.error_code = int(Errors.UNSUPPORTED_VERSION)  # type: ignore[attr-defined]
    return response
