"""Ends the halt of a replica, as its operator has decided: it keeps its log, or gives it up.

A log that is given up is renamed, never deleted. The recovery point says before that it is lost: the replica
votes again once it has fetched everything that a leader has committed (docs/adr/0006).
"""

from __future__ import annotations

import datetime
from pathlib import Path

from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.storage.directory_entries import exists, rename
from kraftctl.storage.durable_files import fsync_directory
from kraftctl.storage.errors import StorageError
from kraftctl.storage.halt import FILE_NAME, GIVEN_UP, HaltFile
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl.storage.recovery_point import RecoveryPoint, RecoveryPointFile
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY


def keep_log(log_dir: Path, replica: ReplicaKey) -> str:
    """Lets the replica start again with its log; returns a line for the operator. Raises StorageError."""
    if not exists(log_dir / FILE_NAME):
        return _is_not_halted(log_dir)
    HaltFile(log_dir, replica.directory_id).remove()
    return (
        f"{log_dir}: this controller starts again, with the log that it has: nothing in it was changed. Next"
        " step: before you start it, stop all controllers, and copy its log to each other voter"
        " (docs/operations/halted.md): with a leader that lacks these records it halts again. Everything"
        " that the others acknowledged since it halted is lost by that."
    )


def give_up_log(log_dir: Path, replica: ReplicaKey, wall_ms: int) -> str:
    """Lets the replica start again without its log, which is renamed; returns a line for the operator.

    Raises StorageError. After a crash in between it is still halted, and this can be called again.
    """
    if not exists(log_dir / FILE_NAME):
        return _is_not_halted(log_dir)
    directory = log_dir / PARTITION_DIRECTORY
    file = RecoveryPointFile.open(log_dir, replica.directory_id, lambda: wall_ms)
    point = file.point or file.former
    if point is None:
        raise StorageError(
            f"{file.path} is missing: without it nothing would keep this controller from voting before it has"
            " fetched everything again. Next step: restore the file, or replace this controller"
            " (docs/operations/lost-disk.md)."
        )
    election = QuorumStateStore(directory).read()
    epoch = max(point.quorum_epoch, 0 if election is None else election.epoch)
    file.begin(RecoveryPoint(replica.directory_id, quorum_epoch=epoch, recovering=True, log_is_whole=False))
    file.close(stopped=False)
    kept_as = log_dir / f"{GIVEN_UP}{_time_text(wall_ms)}"
    if exists(directory):
        rename(directory, kept_as)
        fsync_directory(log_dir)
    HaltFile(log_dir, replica.directory_id).remove()
    return (
        f"{log_dir}: the log of this controller is given up; it is kept as {kept_as.name}. Next step: see"
        " that the other voters have a leader, and start this controller: it votes again after it has fetched"
        f" everything that the leader has committed. Move {kept_as.name} out of the directory once it does."
    )


def _is_not_halted(log_dir: Path) -> str:
    return f"{log_dir}: this controller has not halted: nothing was changed."


def _time_text(wall_ms: int) -> str:
    return datetime.datetime.fromtimestamp(wall_ms / 1000, datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
