"""The changes of voters and kraft.version in a batch's control records, checked (KIP-595, KIP-853).

They are in force once they are in the log, committed or not, so an invalid record must be noticed before.
Kafka's controllers end at one they cannot decode, even at one of an unknown type.
"""

from __future__ import annotations

from typing import Final

from kraftctl.raft.voter_set import VoterSet, voter_set_from_record
from kraftctl_protocol.control_record import NewerReleaseError, decode_control_record
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import RecordBatch

KRAFT_VERSION_MAX: Final = 1


class ControlChanges:
    """The (offset, value) of each KRaftVersion and KRaftVoters record of a batch, rising."""

    def __init__(self) -> None:
        self.kraft_versions: list[tuple[int, int]] = []
        self.voters: list[tuple[int, VoterSet]] = []


def control_changes(batch: RecordBatch, kraft_version: int) -> ControlChanges:
    """Returns the changes in a control batch; `kraft_version` is the level before it. Raises DecodeError."""
    changes = ControlChanges()
    for record in batch.records:
        message = decode_control_record(record.key, record.value).message
        if isinstance(message, KRaftVersionRecord):
            kraft_version = _checked_kraft_version(message.kraft_version, kraft_version)
            changes.kraft_versions.append((record.offset, kraft_version))
        elif isinstance(message, VotersRecord):
            if kraft_version == 0:
                raise DecodeError("a voter set in a log of kraft.version 0, which has none")
            changes.voters.append((record.offset, voter_set_from_record(message)))
    return changes


def _checked_kraft_version(level: int, before: int) -> int:
    text = f"kraft.version {level}, of which kraftctl supports 0 to {KRAFT_VERSION_MAX}"
    if level < 0:
        raise DecodeError(text)
    if level > KRAFT_VERSION_MAX:
        raise NewerReleaseError(text)
    if level < before:
        raise DecodeError(f"kraft.version {level} after {before}: it is never lowered")
    return level
