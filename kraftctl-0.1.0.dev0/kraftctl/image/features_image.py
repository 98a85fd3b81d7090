"""FeaturesImage: finalized feature levels (KIP-584), and whether they enable a rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from kraftctl.image.image_part import ImagePart
from kraftctl.image.undo_journal import JournalView, UndoJournal
from kraftctl.metadata import features
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record

UNKNOWN_METADATA_VERSION = 0
"""`metadata_version` has this value before the first FeatureLevelRecord for it."""


class FinalizedFeatures:
    """The finalized levels as of some offset, with the fields of FeaturesImage. It does not change after
    construction.
    """

    def __init__(self, metadata_version: int, levels: dict[str, int], last_change_offset: int) -> None:
        self.metadata_version = metadata_version
        self.levels = levels
        self.last_change_offset = last_change_offset


class FeaturesImage(ImagePart):
    """The finalized features: `finalized` has all except metadata.version, which is `metadata_version`.

    `last_change_offset` is the offset of the newest FeatureLevelRecord, -1 before any: ApiVersions reports
    it as the finalized features epoch.
    """

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.metadata_version = UNKNOWN_METADATA_VERSION
        self.finalized: dict[str, int] = {}
        self.last_change_offset = -1

    def replay(self, record: Message, offset: int) -> None:
        """Applies a level. It ignores kraft.version, which is in control records (KAFKA-18979)."""
        assert isinstance(record, FeatureLevelRecord)
        self._journal.remember(self, None, (self.metadata_version, self.last_change_offset))
        self.last_change_offset = offset
        if record.name == features.METADATA_VERSION:
            self.metadata_version = record.feature_level
        elif record.name == features.KRAFT_VERSION:
            return
        elif record.feature_level == 0:
            self._journal.remove(self.finalized, record.name)
        else:
            self._journal.put(self.finalized, record.name, record.feature_level)

    def values(self, view: JournalView, metadata_version: int, elr_enabled: bool) -> Iterator[bytes]:
        """Yields metadata.version first: readers need it to understand the rest."""
        if metadata_version > 0:
            yield _level(features.METADATA_VERSION, metadata_version)
        for name, level in sorted(self.in_view(view).levels.items()):
            yield _level(name, level)

    def current(self, key: object) -> object:
        return (self.metadata_version, self.last_change_offset)

    def restore(self, key: object, old: object) -> None:
        assert isinstance(old, tuple)
        self.metadata_version, self.last_change_offset = old

    def in_view(self, view: JournalView) -> FinalizedFeatures:
        """Returns the features as they are in `view`."""
        present = (self.metadata_version, self.last_change_offset)
        metadata_version, last_change_offset = cast("tuple[int, int]", view.value(self, None, present))
        return FinalizedFeatures(
            metadata_version, dict(view.items(self.finalized, self.finalized)), last_change_offset
        )

    def level(self, feature: str) -> int:
        """Returns the finalized level of any feature; 0 when it was never finalized."""
        if feature == features.METADATA_VERSION:
            return self.metadata_version
        return self.finalized.get(feature, 0)

    @property
    def elr_enabled(self) -> bool:
        """Returns whether KIP-966 eligible leader replicas are in force."""
        return self.finalized.get(features.ELIGIBLE_LEADER_REPLICAS_VERSION, 0) >= 1


def _level(name: str, level: int) -> bytes:
    return encode_metadata_record(FeatureLevelRecord(name=name, feature_level=level), 0)
