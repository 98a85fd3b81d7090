"""Lets an operator end the recovery of a replica without its votes, when no leader is elected without it.

The replica votes in no epoch that it may have voted in before: its epoch is raised beyond all that its log,
its recovery point and its quorum-state know. They do not know a lost vote that another controller gave in a
later epoch; so the epoch is raised by more elections than it can have held without writing a record.
"""

from __future__ import annotations

from kraftctl.raft.election_state import ElectionState
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.peer_limits import EPOCH_MAX

EPOCHS_PASSED = 1_000
"""With the default timeouts an election without a winner takes a second or more: this many take a
quarter of an hour, and by then an operator has seen that there is no leader."""


def end_recovery(partition: MetadataPartition, *, log_is_whole: bool) -> str:
    """Ends it durably; returns a line for the operator. `log_is_whole` is the operator's statement where the
    files have none.

    Raises StorageError, with nothing changed, where it is certainly wrong.
    """
    point = partition.recovery_point.point
    assert point is not None
    known_epoch = point.quorum_epoch  # of quorum-state, too: it was noted when the partition was opened
    directory = partition.log.directory
    if partition.recovering_epoch is None:
        return f"{directory}: this replica is not recovering, it votes: nothing was changed."
    if point.log_is_whole is False:
        raise StorageError(
            f"{partition.recovery_point.path} says that this replica has lost records, not only its votes: a"
            " leader could be elected without what it has acknowledged. Next step: start it while the other"
            " voters have a leader, or restore the directory from a backup (docs/operations/lost-disk.md)."
        )
    if point.log_is_whole is None and not log_is_whole:
        raise StorageError(
            f"{partition.recovery_point.path} does not say whether the log was lost as well as the votes: an"
            " earlier release, or an earlier replica, wrote it. Next step: if __cluster_metadata-0 was never"
            " moved away, emptied or restored from a backup, add --log-is-whole; otherwise restore the"
            " directory from a backup"
            " (docs/operations/lost-disk.md)."
        )
    epoch = known_epoch + EPOCHS_PASSED
    if epoch > EPOCH_MAX:
        raise StorageError(
            f"{partition.recovery_point.path} is of epoch {known_epoch}: after {epoch} no election could"
            " follow. Next step: restore the directory from a backup."
        )
    partition.write_quorum_state(ElectionState(epoch=epoch))
    partition.note_recovered()
    log = partition.log
    return (
        f"{directory}: this replica votes again, after epoch {epoch}. Its log ends at offset"
        f" {log.end_offset} in epoch {log.last_epoch}. Next step: run this command for each other voter that"
        " is recovering, then start all controllers."
    )
