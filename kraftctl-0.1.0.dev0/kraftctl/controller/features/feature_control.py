"""UpdateFeatures (KIP-584, KIP-1022): raise or lower finalized feature levels, all of a request or none.

Each update is refused by the first of these that fails:

1. the upgrade type is known, the level is not negative;
2. this controller, every registered broker and every registered controller can run the level, and every
   static voter has registered (a dead old broker must be unregistered first);
3. lowering needs a downgrade type, raising needs UPGRADE;
4. metadata.version is not lowered across a level that changed metadata; kraft.version is never lowered, and
   raised when raft knows that all voters are ready for it (KIP-853);
5. every other feature depends on a metadata.version that is finalized, or in the same request.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.configuration_control.elr_configs import elr_safety_records
from kraftctl.controller.results.controller_result import ControllerResult, SoftChange
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState, KRaftVersionUpgrader
from kraftctl.metadata import features
from kraftctl.metadata.endpoint import VersionRange
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.update_features_request import UpdateFeaturesRequest
from kraftctl_protocol.generated.update_features_response import (
    UpdatableFeatureResult,
    UpdateFeaturesResponse,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion

UPGRADE: Final = 1
SAFE_DOWNGRADE: Final = 2
UNSAFE_DOWNGRADE: Final = 3

ERROR_PREFIX: Final = "The update failed for all features since the following feature had an error: "

RESULTS_VERSION_MAX: Final = 1
"""Up to this request version a success lists every feature."""

NO_ERROR: Final = Errors.NONE.name
"""What a success has for a text there."""

DISABLED: Final = VersionRange(0, 0)
"""The range of a feature that a node does not list."""


def update_features(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Updates all levels or none. As in Kafka, the `allow_downgrade` of version 0 has no effect.

    The records of enabling ELR come before its FeatureLevelRecord (KIP-966).
    """
    assert isinstance(request, UpdateFeaturesRequest)
    updates = {update.feature: update.max_version_level for update in request.feature_updates}
    upgrade_types = {update.feature: update.upgrade_type for update in request.feature_updates}
    records: list[RecordAndVersion] = []
    for feature, level in updates.items():
        error = _why_refused(state, feature, level, upgrade_types[feature], updates)
        if error is not None:
            response = UpdateFeaturesResponse(error_code=error.code, error_message=error.message)
            return ControllerResult.atomic_of([], response)
        records += _records_for(state, feature, level, upgrade_types[feature])
    response = UpdateFeaturesResponse(error_message=None)
    if context.version <= RESULTS_VERSION_MAX:
        response.results = [
            UpdatableFeatureResult(feature=update.feature, error_message=NO_ERROR)
            for update in request.feature_updates
        ]
    if request.validate_only:
        return ControllerResult.atomic_of([], response)
    wanted_kraft_version = updates.get(features.KRAFT_VERSION, 0)
    raised: SoftChange | None = None
    if wanted_kraft_version > state.kraft_version:
        raised = KRaftVersionRaise(state.kraft_version_upgrader, wanted_kraft_version)
    if updates.get(features.ELIGIBLE_LEADER_REPLICAS_VERSION, 0) > 0:
        records = elr_safety_records(state.image, state.config) + records
    return ControllerResult.atomic_of(records, response, raised)


class KRaftVersionRaise(SoftChange):
    """KIP-853: the raft layer raises kraft.version when the records of the request are appended."""

    def __init__(self, upgrader: KRaftVersionUpgrader, level: int) -> None:
        self._upgrader = upgrader
        self._level = level

    @property
    def appends_records(self) -> bool:
        return True

    def make(self) -> None:
        self._upgrader.request(self._level)


def _why_refused(
    state: ControllerState, feature: str, level: int, kind: int, updates: dict[str, int]
) -> ApiError | None:
    reason = _why_not_possible(state, feature, level, kind)
    if reason is None and feature not in features.SUPPORTED_FEATURES:
        reason = "No controller knows this feature."
    if reason is None and feature == features.METADATA_VERSION:
        current = state.image.features.metadata_version
        refusal = _why_metadata_version_refused(current, level, kind)
        return None if refusal is None else ApiError(Errors.INVALID_UPDATE_VERSION, ERROR_PREFIX + refusal)
    if reason is None and feature == features.KRAFT_VERSION:
        reason = _why_kraft_version_refused(state, level)
    elif reason is None:
        reason = _why_dependency_missing(state, feature, level, updates)
    if reason is None:
        return None
    message = f"{ERROR_PREFIX}Invalid update version {level} for feature {feature}. {reason}"
    return ApiError(Errors.INVALID_UPDATE_VERSION, message)


def _records_for(state: ControllerState, feature: str, level: int, kind: int) -> list[RecordAndVersion]:
    if feature != features.KRAFT_VERSION:
        return [RecordAndVersion(FeatureLevelRecord(name=feature, feature_level=level), 0)]
    if kind != UPGRADE:
        return []
    # kraft.version is changed by the raft layer (KIP-853); this gives the client an offset to wait for.
    return [RecordAndVersion(NoOpRecord(), 0)]


def _why_not_possible(state: ControllerState, feature: str, level: int, kind: int) -> str | None:
    if kind not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        return "The upgrade type is not known."
    if level < 0:
        return "A feature level cannot be negative."
    reason = why_not_supported(state, feature, level)
    if reason is not None:
        return reason
    current = current_level(state, feature)
    if level < current and kind == UPGRADE:
        return (
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or"
            " unsafe downgrade."
        )
    if level > current and kind != UPGRADE:
        return "Can't downgrade to a newer version."
    return None


def current_level(state: ControllerState, feature: str) -> int:
    """Returns the finalized level of any feature."""
    if feature == features.KRAFT_VERSION:
        return state.kraft_version
    return state.image.features.level(feature)


def why_not_supported(state: ControllerState, feature: str, level: int) -> str | None:
    """Returns the first node that does not support `level`; None if all do."""
    local = features.supported_features(state.config.unstable_feature_versions_enable).get(feature, DISABLED)
    reason = _why_not_in_range(f"Local controller {state.node_id}", local, level)
    cluster = state.image.cluster
    for broker_id in sorted(cluster.brokers):
        if reason is None:
            offered = cluster.brokers[broker_id].supported_features.get(feature, DISABLED)
            reason = _why_not_in_range(f"Broker {broker_id}", offered, level)
    if not features.is_controller_registration_supported(state.image.features.metadata_version):
        return reason
    for controller_id in sorted(cluster.controllers):
        if reason is None and controller_id != state.node_id:
            offered = cluster.controllers[controller_id].supported_features.get(feature, DISABLED)
            reason = _why_not_in_range(f"Controller {controller_id}", offered, level)
    for voter_id in sorted(state.config.controller_quorum_voters):
        if reason is None and voter_id != state.node_id and voter_id not in cluster.controllers:
            reason = f"controller {voter_id} has not registered: it may not know the feature"
    return reason


def _why_not_in_range(node: str, offered: VersionRange, level: int) -> str | None:
    if offered.contains(level):
        return None
    if offered.max == 0:
        return f"{node} does not support this feature."
    return f"{node} only supports versions {offered.min}-{offered.max}"


def _why_metadata_version_refused(current: int, level: int, kind: int) -> str | None:
    """Returns Kafka's exact words: scripts compare what kafka-features prints."""
    if level >= current or not features.metadata_changed_between(level, current):
        return None
    reason = (
        "Unsafe metadata downgrade is not supported in this version."
        if kind == UNSAFE_DOWNGRADE
        else "Refusing to perform the requested downgrade because it might delete metadata information."
    )
    return f"Unsupported metadata.version downgrade from {current} to {level}. {reason}"


def _why_kraft_version_refused(state: ControllerState, level: int) -> str | None:
    if level < state.kraft_version:
        return "kraft.version cannot be lowered."
    if level > state.kraft_version:
        return state.kraft_version_upgrader.why_impossible(level)
    return None


def _why_dependency_missing(
    state: ControllerState, feature: str, level: int, updates: dict[str, int]
) -> str | None:
    needed = features.required_metadata_version(feature, level)
    proposed = updates.get(features.METADATA_VERSION, state.image.features.metadata_version)
    if proposed >= needed:
        return None
    name = features.metadata_version_name(needed)
    return f"{feature} level {level} needs metadata.version {needed} ({name}), not {proposed}"
