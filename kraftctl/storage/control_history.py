"""KIP-853: voters and kraft.version in the control records on disk."""

from __future__ import annotations

from kraftctl.raft.voter_set import VoterSet, voter_set_from_record
from kraftctl.storage.metadata_log import MetadataLog
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.control_record import decode_control_key, decode_control_value
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.record_batch import RecordBatch, read_batch, read_batch_header

READ_BYTES_MAX = 4 * 1024 * 1024
"""How much of the log one read takes."""


class ControlHistory:
    """(offset, value) of every KRaftVoters and KRaftVersion record, rising.

    The records of the newest snapshot count as written at its last contained offset: -1 for the 0-0
    checkpoint of a formatted dynamic quorum.
    """

    def __init__(self) -> None:
        self.voters: list[tuple[int, VoterSet]] = []
        self.kraft_versions: list[tuple[int, int]] = []


def read_control_history(log: MetadataLog, snapshots: SnapshotStore) -> ControlHistory:
    """Scan the newest snapshot and the log after it. Raises StorageError or DecodeError."""
    history = ControlHistory()
    latest = snapshots.latest_id()
    if latest is not None:
        header = snapshots.reader(latest).header()
        if header.kraft_version > 0:
            history.kraft_versions.append((latest.offset - 1, header.kraft_version))
        if header.voters is not None:
            history.voters.append((latest.offset - 1, voter_set_from_record(header.voters)))
    _scan(log, history, 0 if latest is None else latest.offset)
    return history


def _scan(log: MetadataLog, history: ControlHistory, from_offset: int) -> None:
    offset = max(from_offset, log.start_offset)
    while offset < log.end_offset:
        data = log.read(offset, READ_BYTES_MAX)
        position = 0
        while position < len(data):
            header = read_batch_header(data, position)
            if header.is_control:
                _note(history, read_batch(data, position))
            position += header.size_bytes
            offset = header.last_offset + 1


def _note(history: ControlHistory, batch: RecordBatch) -> None:
    for record in batch.records:
        message = decode_control_value(decode_control_key(record.key), record.value)
        if isinstance(message, VotersRecord):
            history.voters.append((record.offset, voter_set_from_record(message)))
        elif isinstance(message, KRaftVersionRecord):
            history.kraft_versions.append((record.offset, message.kraft_version))
