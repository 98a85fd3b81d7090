"""Reads voters and kraft.version from the control records on disk (KIP-853)."""

from __future__ import annotations

from kraftctl.raft.control_records import control_changes
from kraftctl.raft.voter_set import VoterSet, voter_set_from_record
from kraftctl.storage.errors import of_newer_release
from kraftctl.storage.metadata_log import MetadataLog
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.batch_framing import base_offset_at
from kraftctl_protocol.control_record import NewerReleaseError
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import RecordBatch, read_batch, read_batch_header

READ_BYTES_MAX = 4 * 1024 * 1024
"""One read of the log takes at most this much."""


class ControlHistory:
    """The (offset, value) of every KRaftVoters and KRaftVersion record, rising.

    The records of the newest snapshot count as written at its last contained offset: -1 for the 0-0
    checkpoint of a formatted dynamic quorum.
    """

    def __init__(self) -> None:
        self.voters: list[tuple[int, VoterSet]] = []
        self.kraft_versions: list[tuple[int, int]] = []

    @property
    def kraft_version(self) -> int:
        """Returns the last level; 0 without any."""
        return self.kraft_versions[-1][1] if self.kraft_versions else 0


def read_control_history(log: MetadataLog, snapshots: SnapshotStore) -> ControlHistory:
    """Scans the newest snapshot and the log after it. Raises StorageError."""
    history = ControlHistory()
    latest = snapshots.latest_id()
    if latest is not None:
        reader = snapshots.reader(latest)
        header = reader.header() if latest == BOOTSTRAP_SNAPSHOT_ID else reader.snapshot_header()
        if header.kraft_version > 0:
            history.kraft_versions.append((latest.offset - 1, header.kraft_version))
        if header.voters is not None:
            history.voters.append((latest.offset - 1, voter_set_from_record(header.voters)))
    _scan(log, history, 0 if latest is None else latest.offset)
    if not history.voters and history.kraft_versions and history.kraft_versions[-1][0] >= 0:
        raise log.corrupt_at(history.kraft_versions[-1][0], "kraft.version 1 without a voter set")
    return history


def _scan(log: MetadataLog, history: ControlHistory, from_offset: int) -> None:
    offset = max(from_offset, log.start_offset)
    while offset < log.end_offset:
        data = log.read(offset, READ_BYTES_MAX)
        position = 0
        while position < len(data):
            try:
                header = read_batch_header(data, position)
                if header.is_control:
                    _note(history, read_batch(data, position))
            except NewerReleaseError as newer:
                raise of_newer_release(log.place_of(base_offset_at(data, position)), newer) from newer
            except DecodeError as error:
                raise log.corrupt_at(base_offset_at(data, position), str(error)) from error
            position += header.size_bytes
            offset = header.last_offset + 1


def _note(history: ControlHistory, batch: RecordBatch) -> None:
    changes = control_changes(batch, history.kraft_version)
    history.kraft_versions += changes.kraft_versions
    history.voters += changes.voters
