"""ApiVersions (KIP-511, KIP-584): what this listener serves, and the features of node and cluster."""

from __future__ import annotations

import re
from typing import Final

from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.moment import Moment
from kraftctl.controller.request_context import RequestContext
from kraftctl.image.features_image import FinalizedFeatures
from kraftctl.metadata import features
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kraftctl_protocol.message import Message

SERVED_VERSIONS: Final[dict[int, tuple[int, int]]] = {
    ApiKey.FETCH: (4, 18),
    ApiKey.SASL_HANDSHAKE: (0, 1),
    ApiKey.API_VERSIONS: (0, 4),
    ApiKey.CREATE_TOPICS: (2, 7),
    ApiKey.DELETE_TOPICS: (1, 6),
    ApiKey.DESCRIBE_ACLS: (1, 3),
    ApiKey.CREATE_ACLS: (1, 3),
    ApiKey.DELETE_ACLS: (1, 3),
    ApiKey.DESCRIBE_CONFIGS: (1, 4),
    ApiKey.ALTER_CONFIGS: (0, 2),
    ApiKey.SASL_AUTHENTICATE: (0, 2),
    ApiKey.CREATE_PARTITIONS: (0, 3),
    ApiKey.CREATE_DELEGATION_TOKEN: (1, 3),
    ApiKey.RENEW_DELEGATION_TOKEN: (1, 2),
    ApiKey.EXPIRE_DELEGATION_TOKEN: (1, 2),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: (1, 3),
    ApiKey.ELECT_LEADERS: (0, 2),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (0, 1),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (0, 1),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (0, 0),
    ApiKey.ALTER_CLIENT_QUOTAS: (0, 1),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: (0, 0),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: (0, 0),
    ApiKey.VOTE: (0, 2),
    ApiKey.BEGIN_QUORUM_EPOCH: (0, 1),
    ApiKey.END_QUORUM_EPOCH: (0, 1),
    ApiKey.DESCRIBE_QUORUM: (0, 2),
    ApiKey.ALTER_PARTITION: (0, 3),
    ApiKey.UPDATE_FEATURES: (0, 2),
    ApiKey.ENVELOPE: (0, 0),
    ApiKey.FETCH_SNAPSHOT: (0, 1),
    ApiKey.DESCRIBE_CLUSTER: (0, 2),
    ApiKey.BROKER_REGISTRATION: (0, 4),
    ApiKey.BROKER_HEARTBEAT: (0, 2),
    ApiKey.UNREGISTER_BROKER: (0, 0),
    ApiKey.ALLOCATE_PRODUCER_IDS: (0, 0),
    ApiKey.CONTROLLER_REGISTRATION: (0, 0),
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: (0, 0),
    ApiKey.ADD_RAFT_VOTER: (0, 1),
    ApiKey.REMOVE_RAFT_VOTER: (0, 0),
    ApiKey.UPDATE_RAFT_VOTER: (0, 0),
}
"""API key -> lowest and highest version, as the controller listener of Kafka 4.3.1 lists them.

No other table decides: a request outside it is refused, alone (`server/connection.py`) and in an envelope.

AlterPartition is wider: versions 0 and 1 (KIP-497, KIP-704) went away with Kafka 4.0, and cost nothing here.
"""

SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")

SOFTWARE_VERSION = 3
"""From this request version on clients name their software."""

ZERO_MINIMUM_VERSION = 4
"""Clients below this request version cannot read a feature whose lowest level is 0."""


def is_served(api_key: int, version: int) -> bool:
    """Whether a request of this API and version may be handled at all."""
    lowest, highest = SERVED_VERSIONS.get(api_key, (0, -1))
    return lowest <= version <= highest


def api_versions(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Answered by active and standby alike, before any authentication.

    Features are the committed ones; kraft.version is the newest that raft knows, as in Kafka.
    """
    assert isinstance(request, ApiVersionsRequest)
    if context.version >= SOFTWARE_VERSION and not _names_software(request):
        return ControllerResult.of([], ApiVersionsResponse(error_code=Errors.INVALID_REQUEST))
    response = ApiVersionsResponse(api_keys=_served())
    if context.version >= SOFTWARE_VERSION:
        response.supported_features = supported_features(state, context.version)
        committed = state.committed_features
        response.finalized_features = finalized_features(committed, state.kraft_version)
        response.finalized_features_epoch = committed.last_change_offset
    return ControllerResult.of([], response)


def _names_software(request: ApiVersionsRequest) -> bool:
    return (
        SOFTWARE.fullmatch(request.client_software_name) is not None
        and SOFTWARE.fullmatch(request.client_software_version) is not None
    )


def _served() -> list[ApiVersion]:
    return [
        ApiVersion(api_key=int(api_key), min_version=lowest, max_version=highest)
        for api_key, (lowest, highest) in sorted(SERVED_VERSIONS.items())
    ]


def supported_features(state: ControllerState, version: int) -> list[SupportedFeatureKey]:
    """What this node can run, for a request of `version`.

    Kafka's controllers, here and only here, take the switch of unstable APIs for that of unstable features.
    """
    offered = features.supported_features(state.config.unstable_api_versions_enable)
    return [
        SupportedFeatureKey(
            name=name,
            min_version=1 if version < ZERO_MINIMUM_VERSION and levels.min == 0 else levels.min,
            max_version=levels.max,
        )
        for name, levels in sorted(offered.items())
    ]


def finalized_features(committed: FinalizedFeatures, kraft_version: int) -> list[FinalizedFeatureKey]:
    """The levels in force; a feature at level 0 is not listed. Empty before the log was read."""
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
