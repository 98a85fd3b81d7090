"""The snapshot that is being fetched from the leader, until its checkpoint file is complete (KIP-630)."""

from __future__ import annotations

import logging

from kraftctl.raft.events import SnapshotDownloaded
from kraftctl.storage.download_check import DownloadCheck
from kraftctl.storage.errors import StorageError
from kraftctl.storage.snapshots import SnapshotStore, SnapshotWriter
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.peer_limits import has_room

logger = logging.getLogger("kraftctl.server.snapshots")


class SnapshotDownloads:
    """Keeps one download at a time. It is used only after the whole file has been read back and checked.

    Every method waits for the disk; all of them run on one thread.
    """

    def __init__(self, store: SnapshotStore) -> None:
        self._store = store
        self._writer: SnapshotWriter | None = None
        self._refused: OffsetAndEpoch | None = None
        """The snapshot for which there is no room."""
        self._check = DownloadCheck()

    def save(
        self, snapshot_id: OffsetAndEpoch, position: int, data: bytes, size_bytes: int = 0
    ) -> SnapshotDownloaded | None:
        """Saves the next slice, or the first one of another snapshot. Raises StorageError.

        The leader announces `size_bytes`. Where there is no room for it, the download has failed: a disk that
        is filled would end the process.
        """
        if position == 0:
            self.abort()
            self._refused = None
            if not self._has_room(snapshot_id, size_bytes):
                self._refused = snapshot_id
                return SnapshotDownloaded(snapshot_id, 0)
            self._writer = self._store.writer(snapshot_id)
            self._check = DownloadCheck()
        elif self._refused == snapshot_id:
            return None
        writer = self._writer
        assert writer is not None, "slices arrive in order"
        assert (writer.snapshot_id, writer.size_bytes) == (snapshot_id, position)
        writer.append(data)
        self._check.take(data)
        return None

    def finish(self, snapshot_id: OffsetAndEpoch) -> SnapshotDownloaded:
        """Gives the file its final name, or deletes it when it is damaged. Raises StorageError."""
        if self._refused == snapshot_id:
            return SnapshotDownloaded(snapshot_id, 0)
        writer = self._writer
        assert writer is not None, "there is nothing to finish"
        assert writer.snapshot_id == snapshot_id
        self._writer = None
        try:
            writer.verify(decodes_records=not self._check.has_decoded_all)
        except StorageError as error:
            logger.error("%s", error)
            writer.abort()
            return SnapshotDownloaded(snapshot_id, 0)
        writer.freeze()
        info = self._store.add(writer)
        header = self._store.reader(snapshot_id).header()
        return SnapshotDownloaded(snapshot_id, info.size_bytes, header.kraft_version, header.voters)

    def _has_room(self, snapshot_id: OffsetAndEpoch, size_bytes: int) -> bool:
        free_bytes = self._store.free_bytes()
        if free_bytes is None or has_room(size_bytes, free_bytes):
            return True
        logger.error(
            "The leader has a snapshot %s of %d bytes, and %s has room for %d. Next step: if other"
            " controllers have a snapshot of that size, make room; otherwise look into the leader's log",
            snapshot_id,
            size_bytes,
            self._store.directory,
            free_bytes,
        )
        return False

    def abort(self) -> None:
        """Deletes the unfinished file."""
        if self._writer is not None:
            self._writer.abort()
            self._writer = None
