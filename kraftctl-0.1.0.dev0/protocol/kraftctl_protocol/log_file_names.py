"""Names of the files of a metadata log (KIP-595, KIP-630): segments, checkpoints and their directory.

A segment is named after its base offset, a checkpoint after the end offset and epoch of what it contains. A
checkpoint being written or deleted has a further suffix, so that a file with the plain name is complete.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.metadata_topic import METADATA_PARTITION, METADATA_TOPIC
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

PARTITION_DIRECTORY: Final = f"{METADATA_TOPIC}-{METADATA_PARTITION}"
"""The directory in metadata.log.dir with the log, its checkpoints and quorum-state."""

BOOTSTRAP_CHECKPOINT: Final = "bootstrap.checkpoint"
META_PROPERTIES: Final = "meta.properties"
"""These two files are beside that directory."""

QUORUM_STATE: Final = "quorum-state"

LOG_SUFFIX: Final = ".log"
INDEX_SUFFIX: Final = ".index"
TIME_INDEX_SUFFIX: Final = ".timeindex"
DELETED_SUFFIX: Final = ".deleted"
"""The suffix follows the name of a segment or an index that will be deleted soon."""

CHECKPOINT_SUFFIX: Final = ".checkpoint"
PARTIAL_CHECKPOINT_SUFFIX: Final = ".checkpoint.part"
DELETED_CHECKPOINT_SUFFIX: Final = ".checkpoint.deleted"

OFFSET_DIGITS: Final = 20
EPOCH_DIGITS: Final = 10


def segment_file_name(base_offset: int, suffix: str = LOG_SUFFIX) -> str:
    """Returns the name of a segment, or with another suffix of one of its indexes."""
    return f"{base_offset:020d}{suffix}"


def parse_segment_file_name(name: str) -> int | None:
    """Returns the base offset in the name of a segment, None for any other file."""
    stem = name.removesuffix(LOG_SUFFIX)
    if stem == name or len(stem) != OFFSET_DIGITS or not _is_number(stem):
        return None
    return int(stem)


def checkpoint_file_name(snapshot_id: OffsetAndEpoch, suffix: str = CHECKPOINT_SUFFIX) -> str:
    """Returns the name of a checkpoint, or with another suffix of one that is being written or deleted."""
    return f"{snapshot_id.offset:020d}-{snapshot_id.epoch:010d}{suffix}"


def parse_checkpoint_file_name(name: str) -> OffsetAndEpoch | None:
    """Returns the id in the name of a finished checkpoint, None for any other file."""
    stem = name.removesuffix(CHECKPOINT_SUFFIX)
    offset, _, epoch = stem.partition("-")
    if stem == name or len(offset) != OFFSET_DIGITS or len(epoch) != EPOCH_DIGITS:
        return None
    return OffsetAndEpoch(int(offset), int(epoch)) if _is_number(offset + epoch) else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
