"""Every metadata.version (KIP-584): a row for each level, in the order in which Kafka released them."""

from __future__ import annotations

from typing import Final


class MetadataVersion:
    """A metadata.version level and its name in Kafka.

    `changes_metadata` says that it adds records, or fields of them: a downgrade across it would lose
    metadata. Levels that are not `in_production` need `unstable.feature.versions.enable`.
    """

    def __init__(
        self, level: int, name: str, *, changes_metadata: bool = False, in_production: bool = True
    ) -> None:
        self.level = level
        self.name = name
        self.changes_metadata = changes_metadata
        self.in_production = in_production

    def __repr__(self) -> str:
        return f"MetadataVersion({self.level}, {self.name})"


METADATA_VERSIONS: Final[list[MetadataVersion]] = [
    MetadataVersion(7, "3.3-IV3", changes_metadata=True),
    MetadataVersion(8, "3.4-IV0", changes_metadata=True),
    MetadataVersion(9, "3.5-IV0"),
    MetadataVersion(10, "3.5-IV1"),
    MetadataVersion(11, "3.5-IV2", changes_metadata=True),
    MetadataVersion(12, "3.6-IV0"),
    MetadataVersion(13, "3.6-IV1", changes_metadata=True),
    MetadataVersion(14, "3.6-IV2", changes_metadata=True),
    MetadataVersion(15, "3.7-IV0", changes_metadata=True),
    MetadataVersion(16, "3.7-IV1"),
    MetadataVersion(17, "3.7-IV2", changes_metadata=True),
    MetadataVersion(18, "3.7-IV3"),
    MetadataVersion(19, "3.7-IV4"),
    MetadataVersion(20, "3.8-IV0"),
    MetadataVersion(21, "3.9-IV0"),
    MetadataVersion(22, "4.0-IV0"),
    MetadataVersion(23, "4.0-IV1", changes_metadata=True),
    MetadataVersion(24, "4.0-IV2"),
    MetadataVersion(25, "4.0-IV3"),
    MetadataVersion(26, "4.1-IV0"),
    MetadataVersion(27, "4.1-IV1"),
    MetadataVersion(28, "4.2-IV0"),
    MetadataVersion(29, "4.2-IV1"),
    MetadataVersion(30, "4.3-IV0", changes_metadata=True),
    MetadataVersion(31, "4.4-IV0"),
    MetadataVersion(32, "4.4-IV1", changes_metadata=True),
    MetadataVersion(33, "4.4-IV2", changes_metadata=True),
    MetadataVersion(34, "4.5-IV0", in_production=False),
]

LEVELS_BY_NAME: Final[dict[str, int]] = {row.name: row.level for row in METADATA_VERSIONS}
