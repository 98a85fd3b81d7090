"""MetadataLoader: a standby reads what is committed, until it writes it itself.

A snapshot comes first where the log does not begin at 0, then the log behind it. Both are replayed in turns
of bounded length, so that requests are answered, leaders elected and records replicated meanwhile.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Final

from kraftctl.controller.committed_records import UnusableRecordError, undecodable_batch
from kraftctl.controller.committed_replay import CommittedReplay
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.notice_sources import LOADER
from kraftctl.node.events import LogRead, NodeEffect, ReadLog, SnapshotRead, TakeTurn
from kraftctl.node.load_progress import LoadProgress
from kraftctl.node.long_work import FREED_PER_UNIT, LOADING
from kraftctl.node.snapshot_generation import SnapshotGenerator
from kraftctl.node.snapshot_loading import SnapshotLoading
from kraftctl.raft import effects
from kraftctl.raft.raft_node import RaftNode
from kraftctl_protocol.batch_framing import base_offset_at
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import BatchHeader, read_batch_header

LOG_BYTES_MAX: Final = 1024 * 1024
"""How much of the log is read at a time."""

RECORDS_BEHIND_MAX: Final = 10_000
"""About as many are replayed in a tenth of a second, in which another voter would not be elected."""


class MetadataLoader:
    """Reads and replays what raft has committed. Every method returns what the node has to do."""

    def __init__(self, raft: RaftNode, controller: QuorumController, generator: SnapshotGenerator) -> None:
        self._raft = raft
        self._controller = controller
        self._generator = generator
        self._progress = LoadProgress()
        self._snapshot: SnapshotLoading | None = None
        self._log = b""
        self._log_file = ""
        self._log_position = 0
        """In `_log`, which has been read and is not replayed yet from there on."""
        self._reading_log = False
        self._log_replay: CommittedReplay | None = None
        self._replaced: list[Sized] = []
        """Partitions and entries of indexes of an image that is no longer used; they are freed in turns."""
        self._turn_is_asked = False
        self._spent = 0
        self.last_record_wall_ms = -1
        """The timestamp of the newest batch of the log that is in the image."""

    @property
    def is_idle(self) -> bool:
        """Whether `advance` has nothing to do: the active controller has everything, and of what was loaded
        before nothing is left."""
        return (
            self._controller.active
            and self._snapshot is None
            and not self._log
            and self._log_replay is None
            and not self._replaced
            and self._spent == 0
            and self._progress.has_ended
        )

    @property
    def is_loading(self) -> bool:
        """Whether so much that is committed is not in the image that this node had better not lead."""
        if self._controller.active:
            return False
        behind = self._raft.high_watermark - self._controller.next_replay_offset
        return self._snapshot is not None or behind > RECORDS_BEHIND_MAX

    def advance(self, now_ms: int) -> list[NodeEffect]:
        """Read, and ask for turns, while there is something to do."""
        if self._controller.active:
            self._forget()
        todo = self._end_progress(now_ms)
        if not self._controller.active:
            todo += self._read_next()
        has_data = self._snapshot is not None and self._snapshot.has_data
        if (has_data or self._log or self._replaced) and not self._turn_is_asked:
            self._turn_is_asked = True
            todo.append(TakeTurn(LOADING, self._spent))
        self._spent = 0
        return todo

    def load(self, event: LogRead | SnapshotRead) -> list[NodeEffect]:
        """Something was read. One batch of the log is replayed now: often it is all that there is."""
        if isinstance(event, SnapshotRead):
            if self._snapshot is not None:
                self._snapshot.add(event)
            return []
        self._reading_log = False
        if self._controller.active or self._snapshot is not None:
            return []
        self._log, self._log_file, self._log_position = event.data, event.file, 0
        todo = self._halting_if_unusable(1)
        self._spent = 0  # in no turn
        return todo

    def take_turn(self, units: int, now_ms: int) -> list[NodeEffect]:
        """Replays this many records, but a whole batch of the log: what is in the image ends with one."""
        self._turn_is_asked = False
        if self._replaced:
            self._free_some(units)
            return []
        todo = self._halting_if_unusable(units)
        line = self._progress_line(now_ms)
        return todo if line is None else [*todo, _notice(line)]

    # What to read.

    def _read_next(self) -> list[NodeEffect]:
        controller, raft = self._controller, self._raft
        if self._snapshot is not None and self._snapshot.snapshot_id.offset < raft.log_start_offset:
            # What follows it in the log is gone, and so is its file: another snapshot has replaced both.
            self._snapshot = None
        offset = controller.next_replay_offset
        latest = raft.latest_snapshot_id
        if self._snapshot is None and (
            offset < raft.log_start_offset or (offset == 0 and latest is not None and latest.offset > 0)
        ):
            assert latest is not None, "a log that does not start at 0 has a snapshot of what precedes it"
            self._log = b""
            self._snapshot = self._loading_of(latest)
        if self._snapshot is not None:
            part = self._snapshot.read_next()
            return [] if part is None else [part]
        if self._log or self._reading_log:
            return []
        if offset < raft.high_watermark:
            self._reading_log = True
            return [ReadLog(offset, raft.high_watermark, LOG_BYTES_MAX)]
        if raft.high_watermark >= 0:
            controller.caught_up()
        return []

    def _loading_of(self, snapshot_id: OffsetAndEpoch) -> SnapshotLoading:
        return SnapshotLoading(
            snapshot_id,
            replay=self._controller.replay_of_snapshot(snapshot_id),
            file=self._controller.file_of_snapshot(snapshot_id),
            size_bytes=self._raft.latest_snapshot_bytes,
        )

    def _forget(self) -> None:
        """What was read is no longer needed: the active controller has it."""
        self._snapshot = None
        self._log = b""
        self._log_replay = None

    # Replaying what was read.

    def _halting_if_unusable(self, count_max: int) -> list[NodeEffect]:
        try:
            self._spent = self._replay_some(count_max)
        except UnusableRecordError as error:
            return [effects.Halt(str(error))]
        return []

    def _replay_some(self, count_max: int) -> int:
        snapshot = self._snapshot
        if snapshot is None:
            return self._replay_log(count_max)
        spent = snapshot.replay_some(count_max)
        if snapshot.is_whole:
            self._snapshot = None
            topics = self._controller.image.topics
            self._replaced = [topic.partitions for topic in topics.topics.values()]
            self._replaced += topics.isr_counts.values()
            self._controller.use_image(snapshot.image, snapshot.snapshot_id.offset)
        return spent

    def _replay_log(self, count_max: int) -> int:
        controller = self._controller
        replay = self._replay_of_log()
        before = replay.spent
        while self._log and replay.spent - before < count_max:
            header = self._next_header()
            if header.last_offset >= self._raft.high_watermark:
                self._log = b""
                break
            if header.last_offset >= controller.next_replay_offset:
                if not header.is_control:
                    replay.begin(self._log, self._log_position, header, self._log_file)
                    is_over = replay.replay_some(header.records_count + 1)
                    assert is_over, "a batch of the log is replayed as a whole"
                    self._generator.note(header.size_bytes)
                controller.skip_to(header.last_offset + 1)
                self.last_record_wall_ms = header.max_timestamp_ms
            self._log_position += header.size_bytes
            if self._log_position >= len(self._log):
                self._log = b""
        return replay.spent - before

    def _replay_of_log(self) -> CommittedReplay:
        image = self._controller.image
        if self._log_replay is None or self._log_replay.image is not image:
            self._log_replay = self._controller.replay_of_log()
        return self._log_replay

    def _next_header(self) -> BatchHeader:
        try:
            return read_batch_header(self._log, self._log_position)
        except DecodeError as error:
            base_offset = base_offset_at(self._log, self._log_position)
            raise undecodable_batch(self._log_file, base_offset, error) from error

    def _free_some(self, units: int) -> None:
        freed = 0
        while self._replaced and freed < FREED_PER_UNIT * units:
            freed += 1 + len(self._replaced.pop())
        self._spent = 1 + freed // FREED_PER_UNIT

    # How far it is.

    def _progress_line(self, now_ms: int) -> str | None:
        snapshot = self._snapshot
        if snapshot is not None:
            id_, done, total = snapshot.snapshot_id, snapshot.replayed_bytes, snapshot.size_bytes
            return self._progress.line(f"snapshot {id_.offset}-{id_.epoch}", done, total, now_ms)
        if not self._log or self._controller.state.metadata_loaded:
            return None
        offset, end_offset = self._controller.next_replay_offset, self._raft.high_watermark
        return self._progress.line(f"the log to offset {end_offset}", offset, end_offset, now_ms)

    def _end_progress(self, now_ms: int) -> list[NodeEffect]:
        if self._snapshot is not None or not self._controller.state.metadata_loaded:
            return []
        line = self._progress.end(self._controller.next_replay_offset, now_ms)
        return [] if line is None else [_notice(line)]


def _notice(line: str) -> effects.Notice:
    return effects.Notice(LOADER, effects.INFO, line)
