"""The directory of a controller, written by kraftctl's own storage: segments, checkpoints, voters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from kraftctl.dev.settings import write_meta_properties
from kraftctl.storage.metadata_log import MetadataLog
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.control_record import encode_control_record
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.snapshot_footer_record import SnapshotFooterRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.voters_record import Voter, VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch

CLUSTER_ID = "c0ffeec0ffeec0ffeec0ff"
NODE_ID = 3000
SEGMENT_BYTES = 4096
NO_OP = encode_metadata_record(NoOpRecord(), 0)


class LogDirectory:
    """A controller that is the only voter of a static quorum, unless `voters` is given."""

    def __init__(self, path: Path, segment_bytes: int = SEGMENT_BYTES) -> None:
        self.path = path
        self.partition = path / "__cluster_metadata-0"
        write_meta_properties(path, cluster_id=CLUSTER_ID, node_id=NODE_ID)
        self.log = MetadataLog.open(self.partition, segment_bytes=segment_bytes)
        self.snapshots = SnapshotStore.open(self.partition)
        self.static_voters([NODE_ID])

    def close(self) -> None:
        self.log.close()

    @property
    def end_offset(self) -> int:
        return self.log.end_offset

    def append(self, count: int, *, epoch: int = 1, size: int = 3) -> None:
        """`count` records, in batches of `size`."""
        for first in range(0, count, size):
            values = [NO_OP] * min(size, count - first)
            self.log.append(encode_batch(self.end_offset, epoch, 1000 + first, values))
        self.log.flush()

    def append_voters(self, voters: Sequence[int], epoch: int = 1) -> None:
        """KIP-853: these are the voters from here on."""
        control = [encode_control_record(voters_record(voters))]
        self.log.append(encode_control_batch(self.end_offset, epoch, 1000, control))
        self.log.flush()

    def checkpoint(self, offset: int, epoch: int = 1, voters: Sequence[int] = ()) -> None:
        """A snapshot of four records, or more with voters."""
        messages: list[Message] = [SnapshotHeaderRecord(last_contained_log_timestamp=1000)]
        if voters:
            messages += [KRaftVersionRecord(kraft_version=1), voters_record(voters)]
        front = [encode_control_record(message) for message in messages]
        batches = [
            encode_control_batch(0, epoch, 1000, front),
            encode_batch(len(front), epoch, 1000, [NO_OP, NO_OP]),
            encode_control_batch(
                len(front) + 2, epoch, 1000, [encode_control_record(SnapshotFooterRecord())]
            ),
        ]
        self.snapshots.write(OffsetAndEpoch(offset, epoch), batches)

    def clean_before(self, offset: int) -> None:
        """Like a controller with a checkpoint there: deletes segments and checkpoints that end before it."""
        self.log.delete_segments_before(offset)
        self.snapshots.delete_before(offset)

    def start_at(self, offset: int, epoch: int) -> None:
        """Like a follower that has fetched a snapshot."""
        self.log.truncate_fully_and_start_at(OffsetAndEpoch(offset, epoch))

    def static_voters(self, voters: Sequence[int]) -> None:
        """Writes the voters as in a quorum of kraft.version 0."""
        state = {
            "clusterId": "",
            "leaderId": NODE_ID,
            "leaderEpoch": 1,
            "votedId": NODE_ID,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": voter} for voter in voters],
            "data_version": 0,
        }
        (self.partition / "quorum-state").write_text(json.dumps(state))

    def segments(self) -> list[Path]:
        return sorted(self.partition.glob("*.log"))


def voters_record(voters: Sequence[int]) -> VotersRecord:
    return VotersRecord(voters=[Voter(voter_id=voter) for voter in voters])
