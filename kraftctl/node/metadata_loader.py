"""MetadataLoader: a standby reads what is committed, until it writes it itself.

A snapshot comes first where the log does not begin at 0, then the log behind it.
"""

from __future__ import annotations

from kraftctl.controller.committed_records import UnusableRecordError
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.node.events import LogRead, NodeEffect, ReadLog, ReadSnapshot, SnapshotRead
from kraftctl.node.snapshot_generation import SnapshotGenerator
from kraftctl.raft import effects
from kraftctl.raft.raft_node import RaftNode

LOAD_BYTES_MAX = 256 * 1024
"""How much of the log is replayed in one turn of the loop while loading: well below 50 ms of work."""


class MetadataLoader:
    """Reads and replays what raft has committed. One read is under way at a time."""

    def __init__(self, raft: RaftNode, controller: QuorumController, generator: SnapshotGenerator) -> None:
        self._raft = raft
        self._controller = controller
        self._generator = generator
        self._reading = False

    def read_next(self) -> list[NodeEffect]:
        """What to read next, if anything; the answer goes to `load`."""
        if self._controller.active or self._reading:
            return []
        offset = self._controller.next_replay_offset
        latest = self._raft.latest_snapshot_id
        if offset < self._raft.log_start_offset or (offset == 0 and latest is not None and latest.offset > 0):
            assert latest is not None, "a log that does not start at 0 has a snapshot of what precedes it"
            self._reading = True
            return [ReadSnapshot(latest)]
        if offset < self._raft.high_watermark:
            self._reading = True
            return [ReadLog(offset, self._raft.high_watermark, LOAD_BYTES_MAX)]
        if self._raft.high_watermark >= 0:
            self._controller.caught_up()
        return []

    def load(self, event: LogRead | SnapshotRead) -> list[NodeEffect]:
        """Replay what was read, or halt when this controller cannot have written it."""
        self._reading = False
        try:
            if isinstance(event, LogRead):
                self._replay(event)
            else:
                self._replay_snapshot(event)
        except UnusableRecordError as error:
            return [effects.Halt(str(error))]
        return []

    def _replay(self, event: LogRead) -> None:
        if self._controller.active:
            return
        for batch in event.batches:
            header = batch.header
            if header.last_offset >= self._raft.high_watermark:
                break
            if header.last_offset < self._controller.next_replay_offset:
                continue
            if not header.is_control:
                records = self._controller.decode_committed(batch, event.file)
                self._controller.replay_committed(records, header.base_offset, event.file)
                self._generator.note(header.size_bytes)
            self._controller.skip_to(header.last_offset + 1)

    def _replay_snapshot(self, event: SnapshotRead) -> None:
        last_contained_offset = event.snapshot_id.offset - 1
        file = self._controller.file_of_snapshot(event.snapshot_id)
        self._controller.begin_snapshot()
        for batch in event.batches:
            if not batch.header.is_control:
                records = self._controller.decode_committed(batch, file)
                base_offset = batch.header.base_offset
                self._controller.replay_snapshot(records, base_offset, last_contained_offset, file)
        self._controller.skip_to(event.snapshot_id.offset)
