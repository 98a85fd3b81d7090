"""The first records of a new cluster, as formatting leaves them in a file (KIP-631, KIP-778, KIP-1170).

The active controller writes them when it finds the metadata empty; without a file it takes the
level that `format` writes by default, as Kafka does.
"""

from __future__ import annotations

from kraftctl.metadata import features
from kraftctl.metadata.endpoint import VersionRange
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.metadata_record import RecordAndVersion


class BootstrapMetadataError(Exception):
    """The records cannot start a cluster."""


class BootstrapMetadata:
    """The `records` in the order they are written, and their `source` for the log."""

    def __init__(self, records: list[RecordAndVersion], source: str) -> None:
        self.records = records
        self.source = source
        self.metadata_version = _metadata_version(records, source)

    def feature_level(self, name: str) -> int:
        """Returns the level of a feature; 0 when it is not mentioned."""
        level = 0
        for item in self.records:
            record = item.record
            if isinstance(record, FeatureLevelRecord) and record.name == name:
                level = record.feature_level
        return level


def why_records_unsupported(
    records: list[RecordAndVersion], supported: dict[str, VersionRange]
) -> str | None:
    """Returns the first feature level that cannot be run here, None when all can."""
    for item in records:
        record = item.record
        if isinstance(record, FeatureLevelRecord):
            reason = features.why_level_unsupported(record.name, record.feature_level, supported)
            if reason is not None:
                return reason
    return None


def bootstrap_refusal(source: str, reason: str) -> str:
    """The error text when the records of `source`, a file or directory, cannot start a cluster here."""
    return (
        f"{source} begins the metadata with {reason}. Next step: format an empty directory with a"
        " --release-version that is supported, or start this one with the Kafka release that formatted it."
    )


def default_bootstrap_metadata() -> BootstrapMetadata:
    """Returns the records for a directory without such a file: only the default metadata.version."""
    records = feature_level_records(features.DEFAULT_METADATA_VERSION, {})
    return BootstrapMetadata(records, "the default bootstrap")


def feature_level_records(metadata_version: int, levels: dict[str, int]) -> list[RecordAndVersion]:
    """Returns metadata.version first, then the others by name.

    Level 0 is the same as absent, and kraft.version is in control records instead (KIP-853).
    """
    elsewhere = (features.METADATA_VERSION, features.KRAFT_VERSION)
    names = [name for name in sorted(levels) if levels[name] > 0 and name not in elsewhere]
    first = _feature_level_record(features.METADATA_VERSION, metadata_version)
    return [first] + [_feature_level_record(name, levels[name]) for name in names]


def _feature_level_record(name: str, level: int) -> RecordAndVersion:
    return RecordAndVersion(FeatureLevelRecord(name=name, feature_level=level), 0)


def _metadata_version(records: list[RecordAndVersion], source: str) -> int:
    level: int | None = None
    for item in records:
        record = item.record
        if isinstance(record, FeatureLevelRecord) and record.name == features.METADATA_VERSION:
            level = record.feature_level
    if level is None:
        raise BootstrapMetadataError(
            f"{source} holds no FeatureLevelRecord for {features.METADATA_VERSION}. Next step: restore the"
            " file from another directory of this node, or format the directory again."
        )
    return level
