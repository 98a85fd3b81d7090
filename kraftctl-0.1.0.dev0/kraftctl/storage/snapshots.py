"""Checkpoint files in the directory of the metadata log (KIP-630): `<end offset>-<epoch>.checkpoint`.

A snapshot is written under a temporary name, flushed, made read-only and renamed: a file with the final name
is always complete. A file is renamed before it is deleted, too. Leftovers of both are removed at start.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path

from kraftctl.raft.log_state import SnapshotInfo
from kraftctl.storage.checkpoint_reader import CheckpointReader
from kraftctl.storage.directory_entries import names_in, remove, rename, size_in_bytes
from kraftctl.storage.durable_files import create_directory, fsync_directory, write_all
from kraftctl.storage.errors import StorageError, cannot
from kraftctl_protocol.log_file_names import (
    DELETED_CHECKPOINT_SUFFIX,
    PARTIAL_CHECKPOINT_SUFFIX,
    checkpoint_file_name,
    parse_checkpoint_file_name,
)
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

READ_ONLY = 0o400

OFFSET_MAX = (1 << 63) - 1
EPOCH_MAX = (1 << 31) - 1
"""A snapshot id is sent as an int64 and an int32."""


class SnapshotWriter:
    """Writes one checkpoint. End it with `freeze` or `abort`; only `freeze` creates it.

    Every method raises StorageError.
    """

    def __init__(self, directory: Path, snapshot_id: OffsetAndEpoch) -> None:
        create_directory(directory)
        self.snapshot_id = snapshot_id
        self.size_bytes = 0
        prefix = checkpoint_file_name(snapshot_id, "-")
        self._final_path = directory / checkpoint_file_name(snapshot_id)
        try:
            # Opened now: later there may be no descriptor, and what was written so far would be lost.
            self._directory_descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                self._descriptor, name = tempfile.mkstemp(PARTIAL_CHECKPOINT_SUFFIX, prefix, directory)
            except OSError:
                os.close(self._directory_descriptor)
                raise
        except OSError as error:
            raise self._cannot_write(error) from error
        self._path = Path(name)

    def append(self, data: bytes) -> None:
        """Appends batches of a local snapshot, or the next slice of one that is being fetched."""
        try:
            write_all(self._descriptor, data)
        except OSError as error:
            raise self._cannot_write(error) from error
        self.size_bytes += len(data)

    def verify(self, *, decodes_records: bool = True) -> None:
        """Reads back what was written: a downloaded checkpoint is not trusted yet. Raises StorageError."""
        CheckpointReader(self._path).verify_snapshot(decodes_records=decodes_records)

    def freeze(self) -> Path:
        """Makes the file durable under its final name, read-only, and returns that name."""
        try:
            os.fsync(self._descriptor)
            os.fchmod(self._descriptor, READ_ONLY)
            self._path.replace(self._final_path)
            os.fsync(self._directory_descriptor)
        except OSError as error:
            raise self._cannot_write(error) from error
        finally:
            self._close()
        return self._final_path

    def abort(self) -> None:
        """Removes the file, which is not finished."""
        self._close()
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise cannot("remove", self._path, error) from error

    def _cannot_write(self, error: OSError) -> StorageError:
        return cannot("write the snapshot", self._final_path, error, "The log itself is not affected.")

    def _close(self) -> None:
        os.close(self._descriptor)
        os.close(self._directory_descriptor)


def _check_name(path: Path, snapshot_id: OffsetAndEpoch) -> None:
    if snapshot_id.offset > OFFSET_MAX or snapshot_id.epoch > EPOCH_MAX:
        raise StorageError(
            f"{path} is not the name of a snapshot: no log has the offset {snapshot_id.offset} in epoch"
            f" {snapshot_id.epoch}. Next step: move the file out of the directory; neither kraftctl nor"
            " Kafka writes files of that name."
        )


class SnapshotStore:
    """The finished checkpoints of one directory. `write` may run concurrently with everything else."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.removed_files: list[str] = []
        self._sizes: dict[OffsetAndEpoch, int] = {}
        self._lock = threading.Lock()  # guards `_sizes`
        self._unfinished: SnapshotWriter | None = None

    @classmethod
    def open(cls, directory: Path) -> SnapshotStore:
        """Lists the checkpoints in `directory`, after removing unfinished and deleted ones.

        Raises StorageError when one has a name that no checkpoint can have.
        """
        create_directory(directory)
        store = cls(directory)
        for path in map(directory.joinpath, names_in(directory)):
            snapshot_id = parse_checkpoint_file_name(path.name)
            if path.name.endswith((PARTIAL_CHECKPOINT_SUFFIX, DELETED_CHECKPOINT_SUFFIX)):
                remove(path)
                store.removed_files.append(str(path))
            elif snapshot_id is not None:
                _check_name(path, snapshot_id)
                store._sizes[snapshot_id] = size_in_bytes(path)
        return store

    def free_bytes(self) -> int | None:
        """Returns the room on the disk for files of this process; None if it is not known."""
        try:
            found = os.statvfs(self.directory)
        except OSError:
            return None
        return found.f_bavail * found.f_frsize

    def ids(self) -> list[OffsetAndEpoch]:
        """The ids, rising by offset, then epoch."""
        return [info.snapshot_id for info in self.infos()]

    def infos(self) -> list[SnapshotInfo]:
        """The sizes in the order of `ids`."""
        with self._lock:
            sizes = sorted(self._sizes.items())
        return [SnapshotInfo(snapshot_id, size_bytes) for snapshot_id, size_bytes in sizes]

    def latest_id(self) -> OffsetAndEpoch | None:
        return max(self.ids(), default=None)

    def path(self, snapshot_id: OffsetAndEpoch) -> Path:
        return self.directory / checkpoint_file_name(snapshot_id)

    def write_part(self, snapshot_id: OffsetAndEpoch, batches: Iterable[bytes], position: int) -> None:
        """Appends to a checkpoint from byte `position` on; 0 begins one.

        Raises StorageError, leaving no file.
        """
        try:
            if position == 0:
                self.abandon()
                self._unfinished = SnapshotWriter(self.directory, snapshot_id)
            writer = self._unfinished
            assert writer is not None, "the first part begins at 0"
            assert (writer.snapshot_id, writer.size_bytes) == (snapshot_id, position)
            for batch in batches:
                writer.append(batch)
        except StorageError:
            self.abandon()
            raise

    def write(self, snapshot_id: OffsetAndEpoch, batches: Iterable[bytes], position: int = 0) -> SnapshotInfo:
        """Writes the last part of a checkpoint, or all of it, durably. Raises StorageError, leaving no
        file.
        """
        self.write_part(snapshot_id, batches, position)
        writer = self._unfinished
        assert writer is not None
        self._unfinished = None
        writer.freeze()
        return self.add(writer)

    def abandon(self) -> None:
        """Removes the checkpoint that has no last part yet, if there is one."""
        writer, self._unfinished = self._unfinished, None
        if writer is not None:
            writer.abort()

    def writer(self, snapshot_id: OffsetAndEpoch) -> SnapshotWriter:
        """Returns a writer of a checkpoint; `add` it after its `freeze`."""
        return SnapshotWriter(self.directory, snapshot_id)

    def add(self, frozen: SnapshotWriter) -> SnapshotInfo:
        """Adds a checkpoint that was just frozen."""
        with self._lock:
            self._sizes[frozen.snapshot_id] = frozen.size_bytes
        return SnapshotInfo(frozen.snapshot_id, frozen.size_bytes)

    def read_slice(self, snapshot_id: OffsetAndEpoch, position: int, size_bytes: int) -> bytes:
        """Reads `size_bytes` or less from `position` on, for FetchSnapshot. Raises StorageError when it
        is gone.
        """
        path = self.path(snapshot_id)
        try:
            descriptor = os.open(path, os.O_RDONLY)
            try:
                return os.pread(descriptor, size_bytes, position)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise cannot("read the snapshot", path, error) from error

    def reader(self, snapshot_id: OffsetAndEpoch) -> CheckpointReader:
        """Returns a reader that checks the whole file. Raises StorageError when it is damaged."""
        return CheckpointReader(self.path(snapshot_id))

    def delete_before(self, offset: int) -> None:
        """Deletes the checkpoints that end before `offset`."""
        self.delete([snapshot_id for snapshot_id in self.ids() if snapshot_id.offset < offset])

    def delete(self, doomed: list[OffsetAndEpoch]) -> None:
        """Deletes the checkpoints with these ids."""
        for snapshot_id in doomed:
            renamed = self.directory / checkpoint_file_name(snapshot_id, DELETED_CHECKPOINT_SUFFIX)
            rename(self.path(snapshot_id), renamed)
            remove(renamed)
            with self._lock:
                del self._sizes[snapshot_id]
        if doomed:
            fsync_directory(self.directory)
