"""Opens a metadata partition as its controller does."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl.storage.metadata_log import SEGMENT_BYTES
from kraftctl.storage.metadata_partition import NO_VOTERS, MetadataPartition
from kraftctl_protocol.uuids import uuid_from_string

NODE_ID = 1
DIRECTORY_ID = uuid_from_string("bGzDaR4ySNmJaPXzonU2CA")


def always_now() -> int:
    """A clock that does not advance."""
    return 0


def open_partition(
    log_dir: Path,
    *,
    segment_bytes: int = SEGMENT_BYTES,
    static_voters: VoterSet = NO_VOTERS,
    now_ms: Callable[[], int] = always_now,
) -> MetadataPartition:
    """For the replica of meta.properties, or for one without the file."""
    meta = read_meta_properties(log_dir)
    node_id = NODE_ID if meta is None or meta.node_id is None else meta.node_id
    directory_id = DIRECTORY_ID if meta is None or meta.directory_id is None else meta.directory_id
    return MetadataPartition.open(
        log_dir,
        ReplicaKey(node_id, directory_id),
        now_ms=now_ms,
        static_voters=static_voters,
        segment_bytes=segment_bytes,
    )


def kill(partition: MetadataPartition) -> None:
    """Like the end of its process: its files are closed, and nothing more is written."""
    for segment in partition.log._segments:
        segment.close()
    os.close(partition.recovery_point._descriptor)
