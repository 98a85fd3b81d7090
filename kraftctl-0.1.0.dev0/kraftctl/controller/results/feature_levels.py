"""Records may set the level of a feature: the last one counts."""

from __future__ import annotations

from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.metadata_record import RecordAndVersion


def feature_level(records: list[RecordAndVersion], feature: str) -> int:
    """The level that the last record for `feature` sets; 0 without one."""
    level = 0
    for entry in records:
        record = entry.record
        if isinstance(record, FeatureLevelRecord) and record.name == feature:
            level = record.feature_level
    return level
