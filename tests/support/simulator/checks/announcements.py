"""Which high watermarks a leader answers, and which voters a snapshot has."""

from __future__ import annotations

from kraftctl.node.events import NodeEffect, WriteSnapshot, WriteSnapshotPart
from kraftctl.raft.voter_set import VoterSet, voter_set_from_record
from kraftctl_protocol.control_record import decode_control_key, decode_control_value
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import read_batches
from tests.support.simulator.checks.checked_replica import CheckedReplica
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.checks.log_history import Batch

SNAPSHOT_PART = WriteSnapshotPart


def check(replica: CheckedReplica, response: Message, committed_end: int) -> None:
    """KAFKA-16530: what a leader names as committed is committed, and never less than before."""
    assert isinstance(response, FetchResponse)
    if not response.responses:
        return
    offset = response.responses[0].partitions[0].high_watermark
    if offset == replica.announced or offset < 0:
        return
    if offset < replica.announced:
        broken("MonotonicHighWatermark", f"{replica.name} answers {offset} after {replica.announced}")
    if offset > committed_end:
        broken(
            "ConsistentCommittedData",
            f"{replica.name} answers high watermark {offset}, committed is {committed_end}",
        )
    replica.announced = offset


def take_part(replica: CheckedReplica, effect: NodeEffect) -> None:
    """Parts of a snapshot follow each other without a gap."""
    assert isinstance(effect, WriteSnapshotPart | WriteSnapshot)
    if effect.position == 0:
        replica.snapshot_parts = []
    written_bytes = sum(map(len, replica.snapshot_parts))
    if effect.position != written_bytes:
        broken(
            "SnapshotEqualsLog",
            f"{replica.name}, {effect.snapshot_id}: byte {effect.position} follows byte {written_bytes}",
        )
    replica.snapshot_parts += effect.batches


def check_snapshot(replica: CheckedReplica, effect: WriteSnapshot, last: Batch) -> None:
    """KIP-853: in a dynamic quorum a snapshot has the voters that the log has at its end, after `last`.

    It is written once: another replica may have a part of the file.
    """
    snapshot_id = effect.snapshot_id
    if snapshot_id in replica.partition.snapshots.ids():
        broken("SnapshotEqualsLog", f"{replica.name} writes {snapshot_id} again")
    take_part(replica, effect)
    found = _voters_of(replica.snapshot_parts)
    expected = None if last.voters_batch is None else last.voters_batch.voters
    if found is not None and expected is not None and found != expected:
        broken("SnapshotEqualsLog", f"{replica.name}, {snapshot_id}: {found!r}, not {expected!r}")


def _voters_of(batches: list[bytes]) -> VoterSet | None:
    """They are in the first batch of a checkpoint file; None in a static quorum."""
    records = read_batches(batches[0])[0].records if batches else []
    for record in records:
        value = decode_control_value(decode_control_key(record.key), record.value)
        if isinstance(value, VotersRecord):
            return voter_set_from_record(value)
    return None
