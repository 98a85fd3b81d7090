"""`kraftctl features describe`: the levels that a node supports, and those that are finalized."""

from __future__ import annotations

from dataclasses import dataclass

from kraftctl import SOFTWARE
from kraftctl.metadata import features
from kraftctl.metadata.endpoint import VersionRange
from kraftctl_admin.admin_client import AdminClient
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_security.peer_versions import api_versions_request

UNKNOWN_EPOCH = -1
FEATURE_WIDTH = 40
LEVEL_WIDTH = 15


@dataclass(frozen=True)
class DescribedFeatures:
    """The response of one node; `epoch` is None while nothing is finalized."""

    supported: dict[str, VersionRange]
    finalized: dict[str, int]
    epoch: int | None

    def text(self) -> str:
        """Returns a line for each feature, as kafka-features prints it."""
        return "\n".join(self._line(feature) for feature in sorted(self.supported))

    def value(self) -> dict[str, object]:
        """Returns the same for JSON."""
        described = [
            {
                "feature": feature,
                "supportedMinVersion": self.supported[feature].min,
                "supportedMaxVersion": self.supported[feature].max,
                "finalizedVersionLevel": self.finalized.get(feature, 0),
            }
            for feature in sorted(self.supported)
        ]
        return {"epoch": self.epoch, "features": described}

    def _line(self, feature: str) -> str:
        offered = self.supported[feature]
        cells = (
            f"Feature: {escaped(feature):{FEATURE_WIDTH}}",
            f"SupportedMinVersion: {_level_text(feature, offered.min):{LEVEL_WIDTH}}",
            f"SupportedMaxVersion: {_level_text(feature, offered.max):{LEVEL_WIDTH}}",
            f"FinalizedVersionLevel: {_level_text(feature, self.finalized.get(feature, 0)):{LEVEL_WIDTH}}",
            f"Epoch: {'-' if self.epoch is None else self.epoch}",
        )
        return "  ".join(cells)


def describe_features(client: AdminClient, node_id: int | None) -> DescribedFeatures:
    """Asks the node, or any; of controllers, the active one first. Raises AdminError."""
    if node_id is not None:
        with client.only(node_id) as asked:
            return describe_features(asked, None)
    response = client.call(api_versions_request(*SOFTWARE), ApiVersionsResponse, _error_in)
    return DescribedFeatures(
        {
            feature.name: VersionRange(feature.min_version, feature.max_version)
            for feature in response.supported_features
        },
        {feature.name: feature.max_version_level for feature in response.finalized_features},
        None if response.finalized_features_epoch == UNKNOWN_EPOCH else response.finalized_features_epoch,
    )


def _level_text(feature: str, level: int) -> str:
    if feature != features.METADATA_VERSION:
        return str(level)
    return features.METADATA_VERSION_NAMES.get(level, f"UNKNOWN {level}")


def _error_in(response: ApiVersionsResponse) -> tuple[Errors, str | None]:
    return error_of(response.error_code), None
