"""Arguments that name levels of features, and what a release or a level asks for (KIP-584, KIP-1022)."""

from __future__ import annotations

from typing import NamedTuple

from kraftctl.metadata import features
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.java_values import parse_integer, trim

LEVEL_BITS = 16
"""The level of a feature is a number of this many bits."""


class FeatureLevel(NamedTuple):
    """A feature and a level of it."""

    feature: str
    level: int

    def __str__(self) -> str:
        if self.feature != features.METADATA_VERSION:
            return f"{self.feature}={self.level}"
        return f"{self.feature}={self.level} ({features.metadata_version_name(self.level)})"


def parse_release_version(text: str, unstable: bool) -> int:
    """Returns the metadata.version of a release such as 4.3. Raises StorageError for an unknown one."""
    level = features.metadata_version_from_string(text, unstable)
    if level is None:
        newest = features.LATEST_TESTING if unstable else features.LATEST_PRODUCTION
        known = [name for level, name in features.METADATA_VERSION_NAMES.items() if level <= newest]
        raise StorageError(
            f"Unknown metadata.version '{text}'. Supported metadata.version are: {', '.join(known)}"
        )
    return level


def parse_feature_level(argument: str) -> FeatureLevel:
    """Parses FEATURE=LEVEL. Raises StorageError."""
    name, equals, text = argument.partition("=")
    if not equals:
        raise StorageError(f"--feature {argument}: it has no =. Next step: write FEATURE=LEVEL.")
    level = parse_integer(trim(text), LEVEL_BITS)
    if level is None:
        raise StorageError(
            f"--feature {argument}: the level {trim(text)} is no number. Next step: write FEATURE=LEVEL."
        )
    return FeatureLevel(trim(name), level)


def levels_of_release(metadata_version: int) -> list[FeatureLevel]:
    """Returns the level of each feature in a cluster that is formatted at this metadata.version."""
    return [
        FeatureLevel(feature, features.default_level(feature, metadata_version))
        for feature in features.SUPPORTED_FEATURES
    ]


def dependencies_of(level: FeatureLevel) -> list[FeatureLevel]:
    """Returns what must be finalized before. Raises StorageError for an unknown feature or level."""
    supported = features.supported_features(unstable=True)
    offered = supported.get(level.feature)
    if offered is None:
        raise StorageError(
            f"The feature {level.feature} is not known. Known are: {', '.join(sorted(supported))}."
        )
    if not offered.contains(level.level):
        raise StorageError(
            f"{level.feature} has no level {level.level}: its levels are {offered.min} to {offered.max}."
        )
    if level.feature == features.METADATA_VERSION:
        return []
    required = features.required_metadata_version(level.feature, level.level)
    if required == features.MINIMUM_METADATA_VERSION:
        return []
    return [FeatureLevel(features.METADATA_VERSION, required)]
