"""The one topic and partition that the raft layer speaks about."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.uuids import ONE_UUID

METADATA_TOPIC: Final = "__cluster_metadata"
METADATA_TOPIC_ID: Final = ONE_UUID
METADATA_PARTITION: Final = 0
