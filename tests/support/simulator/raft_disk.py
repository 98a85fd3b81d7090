"""A disk in memory for one raft node: a power failure loses all or some of what was not flushed."""

from __future__ import annotations

from typing import assert_never

from kraftctl.raft.effects import (
    AppendBatch,
    BecameLeader,
    FinishSnapshot,
    FlushLog,
    Halt,
    HighWatermarkUpdated,
    LeaderChanged,
    LeadershipLost,
    NoteRecovered,
    Notice,
    RaftEffect,
    Respond,
    RespondFetch,
    RespondFetchSnapshot,
    SaveSnapshotSlice,
    SendRequest,
    StartOver,
    TruncateLog,
    WriteQuorumState,
)
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import SnapshotDownloaded
from kraftctl.raft.log_state import LogState, SnapshotInfo
from kraftctl.raft.voter_set import VoterSet, voter_set_from_record
from kraftctl_protocol.control_record import ControlRecordType, decode_control_key, decode_control_value
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import read_batches


class RaftDisk:
    """Batches are (base offset, last offset, epoch, bytes, control).

    A snapshot here is all batches before its end; those that are no longer in the log are in `cut`.
    Truncation, snapshots and quorum-state are durable when executed, as in storage; appends when flushed.
    """

    def __init__(self) -> None:
        self.cut: list[AppendBatch] = []
        self.snapshot_files: dict[OffsetAndEpoch, bytes] = {}
        self.download = b""
        self.start_offset = 0
        self.batches: list[AppendBatch] = []
        self.flushed_offset = 0
        self.quorum_state: ElectionState | None = None
        self.snapshots: list[SnapshotInfo] = []
        self.bootstrap_voters: VoterSet | None = None
        self.last_epoch_seen = 0
        self.recovering_epoch: int | None = None

    @property
    def end_offset(self) -> int:
        return self.batches[-1].last_offset + 1 if self.batches else self.start_offset

    def apply(self, effect: RaftEffect) -> None:
        """What `effect` does to the disk. A flush ends later, by `flush` or `finish_flush`."""
        match effect:
            case AppendBatch():
                assert effect.base_offset == self.end_offset
                self.batches.append(effect)
            case TruncateLog():
                self.batches = [batch for batch in self.batches if batch.last_offset < effect.end_offset]
                self.flushed_offset = min(self.flushed_offset, self.end_offset)
            case SaveSnapshotSlice():
                assert effect.position in (0, len(self.download))
                self.download = (self.download if effect.position else b"") + effect.data
            case FinishSnapshot():
                self.snapshot_files[effect.snapshot_id] = self.download
            case StartOver():
                self._start_over(effect.snapshot_id)
            case WriteQuorumState():
                self.quorum_state = effect.state
                self.last_epoch_seen = max(self.last_epoch_seen, effect.state.epoch)
            case NoteRecovered():
                self.recovering_epoch = None
            case Respond() | SendRequest() | RespondFetch() | RespondFetchSnapshot() | FlushLog():
                pass
            case HighWatermarkUpdated() | BecameLeader() | LeadershipLost() | LeaderChanged():
                pass
            case Notice() | Halt():
                pass
            case _:
                assert_never(effect)

    def _start_over(self, snapshot_id: OffsetAndEpoch) -> None:
        data = self.snapshot_files[snapshot_id]
        self.cut = []
        position = 0
        for batch in read_batches(data):
            header = batch.header
            raw = data[position : position + header.size_bytes]
            position += header.size_bytes
            self.cut.append(
                AppendBatch(
                    header.base_offset,
                    header.last_offset,
                    header.partition_leader_epoch,
                    raw,
                    header.is_control,
                )
            )
        self.batches = []
        self.start_offset = self.flushed_offset = snapshot_id.offset
        self.snapshots = [SnapshotInfo(snapshot_id, len(data))]

    def downloaded(self, snapshot_id: OffsetAndEpoch) -> SnapshotDownloaded:
        """What is reported after `FinishSnapshot`."""
        data = self.snapshot_files[snapshot_id]
        voters: VotersRecord | None = None
        kraft_version = 0
        for batch in read_batches(data):
            for record in batch.records if batch.header.is_control else []:
                message = decode_control_value(decode_control_key(record.key), record.value)
                if isinstance(message, VotersRecord):
                    voters = message
                elif isinstance(message, KRaftVersionRecord):
                    kraft_version = message.kraft_version
        return SnapshotDownloaded(snapshot_id, len(data), kraft_version, voters)

    def take_snapshot(self, end_offset: int) -> SnapshotInfo | None:
        """A snapshot of all before `end_offset`, which is then deleted from the log; None if it is empty."""
        contained = [batch for batch in self.batches if batch.last_offset < end_offset]
        if not contained:
            return None
        self.cut += contained
        self.batches = self.batches[len(contained) :]
        self.start_offset = end_offset
        self.flushed_offset = max(self.flushed_offset, end_offset)
        snapshot_id = OffsetAndEpoch(end_offset, contained[-1].epoch)
        data = b"".join(batch.batch for batch in self.cut)
        self.snapshot_files[snapshot_id] = data
        self.snapshots = [SnapshotInfo(snapshot_id, len(data))]
        return self.snapshots[0]

    def flush(self, effect: FlushLog) -> int:
        """Flush everything immediately."""
        self.flushed_offset = min(effect.end_offset, self.end_offset)
        return effect.end_offset

    def finish_flush(self, written: list[AppendBatch]) -> None:
        """An fsync has ended that began when the log held `written`: only that is durable."""
        held = {id(batch) for batch in written}
        for batch in self.batches:
            if batch.last_offset >= self.flushed_offset:
                if id(batch) not in held:
                    break
                self.flushed_offset = batch.last_offset + 1

    def unflushed_count(self) -> int:
        """Batches that a power loss may take."""
        return sum(batch.last_offset >= self.flushed_offset for batch in self.batches)

    def crash(self, surviving: int = 0) -> None:
        """The power fails: of what was not flushed, the first `surviving` batches survive."""
        lost = max(0, self.unflushed_count() - surviving)
        self.batches = self.batches[: len(self.batches) - lost]

    def recover(self) -> None:
        """What a new process does before it starts: what survived becomes durable (as storage does).

        A downloaded snapshot beyond the log replaces the log.
        """
        self.flushed_offset = self.end_offset
        self.download = b""
        for snapshot_id in sorted(self.snapshot_files, key=_place)[-1:]:
            last_epoch = self.log_state().last_epoch()
            if _place(snapshot_id) > (last_epoch, self.end_offset):
                self._start_over(snapshot_id)

    def forget(self, *, log: bool, votes: bool) -> None:
        """Log and snapshots, or quorum-state, are lost; the identity and the highest epoch seen are kept."""
        self.recovering_epoch = self.last_epoch_seen
        if votes:
            self.quorum_state = None
        if log:
            self.cut, self.batches = [], []
            self.snapshot_files = {}
            self.snapshots = []
            self.start_offset = self.flushed_offset = 0
            self.bootstrap_voters = None

    def read(self, offset: int, end_offset: int, max_bytes: int) -> list[AppendBatch]:
        """Whole batches, at least one, as `RespondFetch` asks for."""
        found: list[AppendBatch] = []
        size_bytes = 0
        for batch in self.batches:
            if offset <= batch.base_offset < end_offset:
                size_bytes += len(batch.batch)
                if found and size_bytes > max_bytes:
                    break
                found.append(batch)
        return found

    def log_state(self) -> LogState:
        epochs: list[tuple[int, int]] = []
        for batch in self.batches:
            if not epochs or batch.epoch > epochs[-1][0]:
                epochs.append((batch.epoch, batch.base_offset))
        return LogState(
            start_offset=self.start_offset,
            end_offset=self.end_offset,
            epochs=epochs,
            snapshots=self.snapshots,
        )

    def last_epoch_at(self, end_offset: int) -> int:
        """The epoch of the last record before `end_offset`."""
        before = [batch.epoch for batch in self.cut + self.batches if batch.last_offset < end_offset]
        return before[-1] if before else 0

    def histories(self) -> tuple[list[tuple[int, VoterSet]], list[tuple[int, int]]]:
        """Voters and kraft.version by offset, from control records."""
        voters: list[tuple[int, VoterSet]] = []
        versions: list[tuple[int, int]] = []
        if self.bootstrap_voters is not None:
            voters.append((-1, self.bootstrap_voters))
            versions.append((-1, 1))
        for batch in self.cut + self.batches:
            if batch.is_control:
                for record in read_batches(batch.batch)[0].records:
                    control_type = decode_control_key(record.key)
                    message = decode_control_value(control_type, record.value)
                    if control_type == ControlRecordType.KRAFT_VOTERS:
                        assert isinstance(message, VotersRecord)
                        voters.append((record.offset, voter_set_from_record(message)))
                    elif control_type == ControlRecordType.KRAFT_VERSION:
                        assert isinstance(message, KRaftVersionRecord)
                        versions.append((record.offset, message.kraft_version))
        return voters, versions


def _place(snapshot_id: OffsetAndEpoch) -> tuple[int, int]:
    return snapshot_id.epoch, snapshot_id.offset
