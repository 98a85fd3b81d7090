"""The releases of Kafka that the matrix has, and the levels of metadata.version that each of them runs."""

from __future__ import annotations

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.generated.update_features_response import UpdateFeaturesResponse
from kraftctl_protocol.metadata_versions import METADATA_VERSIONS
from tests.support.wire.controller_client import ControllerClient

RELEASES = ("3.9.2", "4.0.2", "4.1.2", "4.2.1", "4.3.1", "4.4.0")

METADATA_VERSION = "metadata.version"

NAMES = {row.level: row.name for row in METADATA_VERSIONS}

UPGRADE, SAFE_DOWNGRADE = 1, 2


def minor(release: str) -> tuple[int, ...]:
    """(4, 4) of 4.4.0, and of 4.4-IV2."""
    return tuple(map(int, release.split("-")[0].split(".")[:2]))


def levels_of(release: str) -> list[int]:
    """From the first that kraftctl has to the latest of the release, in order."""
    return [row.level for row in METADATA_VERSIONS if row.in_production and minor(row.name) <= minor(release)]


def latest(release: str) -> int:
    return levels_of(release)[-1]


def release_of(level: int) -> str:
    """As --release-version takes it: 4.4 for the level of 4.4-IV2."""
    return NAMES[level].split("-")[0]


def may_be_lowered(level: int, to: int) -> bool:
    """Whether no level in between changes metadata, by the table that is compared with Kafka's classes."""
    return not any(row.changes_metadata for row in METADATA_VERSIONS if to < row.level <= level)


def update(port: int, level: int, upgrade_type: int, feature: str = METADATA_VERSION) -> str | None:
    """Asks the controller for a level; returns the refusal, or None."""
    wanted = FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=upgrade_type)
    with ControllerClient(port) as client:
        request = UpdateFeaturesRequest(timeout_ms=30_000, feature_updates=[wanted])
        response = client.call(request, 1, UpdateFeaturesResponse)
    codes = [(response.error_code, response.error_message)]
    codes += [(entry.error_code, entry.error_message) for entry in response.results]
    return next((f"{Errors(code).name}: {text}" for code, text in codes if code != Errors.NONE), None)


def raise_to(port: int, level: int) -> None:
    assert (refusal := update(port, level, UPGRADE)) is None, refusal
