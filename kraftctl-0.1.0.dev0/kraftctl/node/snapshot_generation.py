"""KIP-630: when a node writes a snapshot of its image, and the snapshot itself, encoded in slices."""

from __future__ import annotations

from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.failures import pause_ms
from kraftctl.controller.results.notice_sources import SNAPSHOT as SNAPSHOT_SOURCE
from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.node.events import (
    AbandonSnapshot,
    NodeEffect,
    TakeTurn,
    WriteSnapshot,
    WriteSnapshotPart,
)
from kraftctl.node.long_work import FREED_PER_UNIT, SNAPSHOT
from kraftctl.raft import effects
from kraftctl.raft.raft_node import RaftNode
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch


class SnapshotPolicy:
    """As Kafka's SnapshotGenerator: after `record_bytes_max` of committed batches, or `interval_ms` after the
    last snapshot.

    With `interval_ms` 0, time alone never makes a snapshot due.
    """

    def __init__(self, record_bytes_max: int, interval_ms: int) -> None:
        self._record_bytes_max = record_bytes_max
        self._interval_ms = interval_ms
        self._bytes = 0
        self._last_ms = -1
        self._failure_count = 0
        self._retry_ms = 0

    def note(self, batch_bytes: int) -> None:
        """A batch was added to the log or read from it."""
        self._bytes += batch_bytes

    def is_due(self, now_ms: int) -> bool:
        """Whether a snapshot is due; time counts from the first call."""
        if self._last_ms < 0:
            self._last_ms = now_ms
        if self._failure_count > 0:
            return now_ms >= self._retry_ms
        if self._bytes == 0:
            return False
        expired = 0 < self._interval_ms <= now_ms - self._last_ms
        return expired or self._bytes >= self._record_bytes_max

    def began(self, now_ms: int) -> None:
        self._bytes = 0
        self._last_ms = now_ms

    def succeeded(self) -> None:
        """The snapshot is complete."""
        self._failure_count = 0

    def failed(self, now_ms: int) -> int:
        """The snapshot could not be generated. Returns when it is retried."""
        self._failure_count += 1
        self._retry_ms = now_ms + pause_ms(self._failure_count)
        return self._retry_ms


class SnapshotInProgress:
    """The image as of `snapshot_id`, encoded while the image changes: call `write_slice` until it is True,
    and `take_part` after each call."""

    def __init__(
        self,
        image: MetadataImage,
        snapshot_id: OffsetAndEpoch,
        *,
        wall_ms: int,
        kraft_version: int,
        voters: VotersRecord | None,
    ) -> None:
        self.snapshot_id = snapshot_id
        self._batches: list[bytes] = []
        self._position = 0
        self._begun = False
        self._wall_ms = wall_ms
        self._kraft_version = kraft_version
        self._voters = voters
        self._writer = ImageWriter(image, snapshot_id.offset)
        self._encoder = SnapshotBatches(snapshot_id.epoch, wall_ms)

    def write_slice(self, count_max: int) -> bool:
        """Encodes this many more records at most. Returns True when nothing is left."""
        if not self._begun:
            self._begun = True
            self._batches.append(self._encoder.header(self._wall_ms, self._kraft_version, self._voters))
        values = self._writer.next_values(count_max)
        if values:
            self._batches += self._encoder.values(values)
            return False
        self.abandon()
        if self._writer.free_some(FREED_PER_UNIT * count_max):
            return False
        self._batches.append(self._encoder.footer())
        return True

    def take_part(self) -> tuple[int, list[bytes]]:
        """The batches since the last call, and at which byte of the file they begin."""
        position, batches = self._position, self._batches
        self._position += sum(map(len, batches))
        self._batches = []
        return position, batches

    def abandon(self) -> None:
        """Give up the snapshot: the image need not keep old values for it."""
        self._writer.close()


class SnapshotGenerator:
    """Snapshots of the committed image, one at a time. Every method returns what the node has to do."""

    def __init__(self, raft: RaftNode, controller: QuorumController, policy: SnapshotPolicy) -> None:
        self._raft = raft
        self._controller = controller
        self._policy = policy
        self._snapshot: SnapshotInProgress | None = None
        self._is_encoded = False
        self._turn_is_asked = False

    def note(self, batch_bytes: int) -> None:
        """A batch was added to the log or read from it."""
        self._policy.note(batch_bytes)

    def written(self) -> None:
        """The snapshot is on the disk; the next one may begin."""
        self._snapshot = None

    def abandon(self) -> list[NodeEffect]:
        """A snapshot takes the place of the log and of the image: one of the present image is not needed."""
        snapshot = self._snapshot
        if snapshot is None or self._is_encoded:
            return []
        snapshot.abandon()
        self._snapshot = None
        return [AbandonSnapshot(snapshot.snapshot_id)]

    def is_due(self, now_ms: int) -> bool:
        """Whether to try to `begin`."""
        return self._snapshot is None and not self._turn_is_asked and self._policy.is_due(now_ms)

    def begin(self, now_ms: int, wall_ms: int) -> list[NodeEffect]:
        """Snapshot everything that is committed, unless a metadata transaction is open in it (KAFKA-17713).

        Not before metadata.version is committed: without it the records cannot be read. Not again at the same
        offset: replicas may be fetching that file.
        """
        controller = self._controller
        raft = self._raft
        end_offset = raft.high_watermark if controller.active else controller.next_replay_offset
        if controller.last_stable_offset + 1 != end_offset:
            return []
        latest = raft.latest_snapshot_id
        if latest is not None and latest.offset >= end_offset:
            return []
        epoch = raft.epoch_at(end_offset - 1)
        if epoch is None or not 0 <= controller.image.features.last_change_offset < end_offset:
            return []
        self._policy.began(now_ms)
        kraft_version = raft.kraft_version_at(end_offset)
        voters = raft.voters_at(end_offset).to_record() if kraft_version >= 1 else None
        self._snapshot = SnapshotInProgress(
            controller.image,
            OffsetAndEpoch(end_offset, epoch),
            wall_ms=wall_ms,
            kraft_version=kraft_version,
            voters=voters,
        )
        self._is_encoded = False
        self._turn_is_asked = True
        return [TakeTurn(SNAPSHOT, 0)]

    def continue_for(self, units: int, now_ms: int) -> list[NodeEffect]:
        """Encodes this many more records at most."""
        self._turn_is_asked = False
        snapshot = self._snapshot
        if snapshot is None:
            return []  # it was abandoned
        name = f"{snapshot.snapshot_id.offset}-{snapshot.snapshot_id.epoch}"
        try:
            complete = snapshot.write_slice(units)
        except Exception as error:  # noqa: BLE001 - see docs/adr/0005: the log is complete without a snapshot
            snapshot.abandon()
            self._snapshot = None
            outcome = f"tried again in {self._policy.failed(now_ms) - now_ms} ms"
            self._controller.failures.note(f"Generating snapshot {name}", outcome, error, SNAPSHOT_SOURCE)
            return [AbandonSnapshot(snapshot.snapshot_id)]
        position, batches = snapshot.take_part()
        if not complete:
            self._turn_is_asked = True
            turn = TakeTurn(SNAPSHOT, units)
            return [WriteSnapshotPart(snapshot.snapshot_id, batches, position), turn] if batches else [turn]
        self._is_encoded = True
        self._policy.succeeded()
        return [
            effects.Notice(SNAPSHOT_SOURCE, effects.INFO, f"Writing snapshot {name}"),
            WriteSnapshot(snapshot.snapshot_id, batches, position),
        ]
