"""Gives the only voter of a quorum advice that can work: no other replica has its data, or can replace it.

The voters of a dynamic quorum are in the log, and it is the log that cannot be read: what can be read of it
has to do. A voter may have been added after that, so the advice begins with other controllers.
"""

from __future__ import annotations

import mmap
from pathlib import Path

from kraftctl.raft.control_records import control_changes
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet, voter_set_from_record
from kraftctl.storage.errors import StorageError
from kraftctl.storage.replacing_a_replica import REPLACE_THIS_REPLICA, RESTORE_THE_ONLY_VOTER
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.batch_framing import HEADER_BYTES
from kraftctl_protocol.control_record import NewerReleaseError
from kraftctl_protocol.log_file_names import LOG_SUFFIX, PARTITION_DIRECTORY
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import read_batch, read_batch_header


def advise_the_only_voter(
    error: StorageError, log_dir: Path, replica: ReplicaKey, static_voters: VoterSet
) -> None:
    """Changes the next step in the text of `error`, if it is about replacing this replica. Writes nothing."""
    text = str(error)
    if REPLACE_THIS_REPLICA not in text:
        return
    voters = _readable_voters(log_dir / PARTITION_DIRECTORY) or static_voters
    if voters.is_only_voter(replica):
        error.args = (text.replace(REPLACE_THIS_REPLICA, RESTORE_THE_ONLY_VOTER),)


def _readable_voters(directory: Path) -> VoterSet | None:
    """Returns the last voters that can be read; None in a static quorum."""
    found, known_to = None, 0
    try:
        snapshots = SnapshotStore.open(directory)
        for snapshot_id in snapshots.ids():
            header = snapshots.reader(snapshot_id).header()
            if header.voters is not None:
                found, known_to = voter_set_from_record(header.voters), snapshot_id.offset
    except StorageError:
        pass  # a former one, or the log, has to do
    for path in sorted(directory.glob(f"*{LOG_SUFFIX}")):
        found = _voters_in(path, known_to) or found
    return found


def _voters_in(path: Path, from_offset: int) -> VoterSet | None:
    """Returns the last voters from `from_offset` on and before the first damage."""
    found = None
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            position = 0
            while position < len(content):
                header = read_batch_header(content[position : position + HEADER_BYTES], 0)
                if header.is_control and header.base_offset >= from_offset:
                    batch = read_batch(content[position : position + header.size_bytes], 0)
                    for _, voters in control_changes(batch, 1).voters:
                        found = voters
                position += header.size_bytes
    except (OSError, ValueError, DecodeError, NewerReleaseError):
        pass  # an empty file, too
    return found
