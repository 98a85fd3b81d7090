"""What the checks read of a running controller: parts of RaftNode, QuorumController and MetadataPartition."""

from __future__ import annotations

from typing import Protocol

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch


class RaftView(Protocol):
    """Of RaftNode."""

    @property
    def epoch(self) -> int: ...

    @property
    def state_name(self) -> str: ...

    @property
    def high_watermark(self) -> int: ...

    @property
    def log_start_offset(self) -> int: ...

    @property
    def voter_set(self) -> VoterSet: ...


class ControllerView(Protocol):
    """Of QuorumController."""

    @property
    def active(self) -> bool: ...

    @property
    def next_replay_offset(self) -> int: ...

    @property
    def last_stable_offset(self) -> int: ...

    @property
    def image(self) -> MetadataImage: ...


class LogView(Protocol):
    """Of MetadataLog."""

    @property
    def durable_end_offset(self) -> int: ...

    @property
    def start_offset(self) -> int: ...

    @property
    def end_offset(self) -> int: ...

    def read(self, offset: int, max_bytes: int, /) -> bytes: ...

    def epoch_at(self, offset: int, /) -> int: ...


class SnapshotsView(Protocol):
    """Of SnapshotStore."""

    def ids(self) -> list[OffsetAndEpoch]: ...


class PartitionView(Protocol):
    """Of MetadataPartition."""

    @property
    def log(self) -> LogView: ...

    @property
    def snapshots(self) -> SnapshotsView: ...

    @property
    def recovering_epoch(self) -> int | None: ...

    def read_quorum_state(self) -> ElectionState | None: ...


class ProcessView(Protocol):
    """One life of a controller: from its start on a directory to its end. `life` counts them per node."""

    @property
    def node_id(self) -> int: ...

    @property
    def life(self) -> int: ...

    @property
    def key(self) -> ReplicaKey: ...

    @property
    def raft(self) -> RaftView: ...

    @property
    def controller(self) -> ControllerView: ...

    @property
    def partition(self) -> PartitionView: ...
