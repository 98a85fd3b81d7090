"""ApiVersions (KIP-511, KIP-584, KIP-1242): the APIs of this listener, features of node and cluster."""

from __future__ import annotations

import re

from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.features_image import FinalizedFeatures
from kraftctl.metadata import features
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kraftctl_protocol.message import Message

SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")

SOFTWARE_VERSION = 3
"""From this request version on clients name their software."""

NO_NODE = -1
"""The node id of a request that names no node, which is each below version 5."""

ZERO_MINIMUM_VERSION = 4
"""Clients below this request version cannot read a feature whose lowest level is 0: it is left out."""


def api_versions(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Responds on every controller, active or standby, before any authentication.

    Features are the committed ones; kraft.version is the newest that raft knows, as in Kafka.
    """
    assert isinstance(request, ApiVersionsRequest)
    if not is_valid(request, context.version):
        return ControllerResult.of([], ApiVersionsResponse(error_code=Errors.INVALID_REQUEST))
    response = ApiVersionsResponse(api_keys=_served())
    if context.version >= SOFTWARE_VERSION:
        response.supported_features = supported_features(state, context.version)
        committed = state.committed_features
        response.finalized_features = finalized_features(committed, state.kraft_version)
        response.finalized_features_epoch = committed.last_change_offset
    return ControllerResult.of([], response)


def is_valid(request: ApiVersionsRequest, version: int) -> bool:
    """Returns whether the request gets a response without an error."""
    return version < SOFTWARE_VERSION or (_names_software(request) and _names_node(request))


def _names_software(request: ApiVersionsRequest) -> bool:
    return (
        SOFTWARE.fullmatch(request.client_software_name) is not None
        and SOFTWARE.fullmatch(request.client_software_version) is not None
    )


def _names_node(request: ApiVersionsRequest) -> bool:
    """Returns whether the client names the node and the cluster that it wants to speak to, or neither.

    As in Kafka, a controller does not compare them with its own: only brokers do.
    """
    return (request.cluster_id is None) == (request.node_id == NO_NODE)


def _served() -> list[ApiVersion]:
    return [
        ApiVersion(api_key=api.key, min_version=api.lowest, max_version=api.highest)
        for api in API_TABLE.values()
    ]


def supported_features(state: ControllerState, version: int) -> list[SupportedFeatureKey]:
    """Returns the features that this node can run, for a request of `version`.

    Only here Kafka's controllers use the setting for unstable APIs in place of the one for unstable
    features.
    """
    offered = features.supported_features(state.config.unstable_api_versions_enable)
    return [
        SupportedFeatureKey(
            name=name,
            min_version=levels.min,
            max_version=levels.max,
        )
        for name, levels in sorted(offered.items())
        if version >= ZERO_MINIMUM_VERSION or levels.min > 0
    ]


def finalized_features(committed: FinalizedFeatures, kraft_version: int) -> list[FinalizedFeatureKey]:
    """Returns the levels in force without those at 0. Empty before the log was read."""
    if committed.metadata_version == 0:
        return []
    levels = dict(committed.levels)
    levels[features.METADATA_VERSION] = committed.metadata_version
    if kraft_version > 0:
        levels[features.KRAFT_VERSION] = kraft_version
    return [
        FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
        for name, level in sorted(levels.items())
    ]
