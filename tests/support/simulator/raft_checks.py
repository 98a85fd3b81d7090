"""What a simulated quorum records, so that each effect can be checked against all invariants."""

from __future__ import annotations

from kraftctl.raft.effects import (
    AppendBatch,
    BecameLeader,
    Halt,
    HighWatermarkUpdated,
    RaftEffect,
    Respond,
    SendRequest,
    StartOver,
    TruncateLog,
    WriteQuorumState,
)
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.message import Message
from tests.support.simulator import raft_invariants as invariants
from tests.support.simulator.raft_disk import RaftDisk


class RaftChecks:
    """`leaders` by epoch; `committed` is all that any replica considered committed, one entry per offset."""

    def __init__(self, disks: dict[int, RaftDisk]) -> None:
        self.disks = disks
        self.leaders: dict[int, int] = {}
        self.committed: list[tuple[int, bytes]] = []
        self.voter_ids: list[int] = []
        self.high_watermarks = dict.fromkeys(disks, -1)
        self._votes: dict[tuple[int, int], int] = {}
        self._epochs = dict.fromkeys(disks, 0)

    def restarted(self, node_id: int) -> None:
        """Each process starts without a high watermark."""
        self.high_watermarks[node_id] = -1

    def forgot(self, node_id: int) -> None:
        """Its quorum-state starts again, its votes still count."""
        self._epochs[node_id] = 0

    def before(self, node_id: int, effect: RaftEffect) -> None:
        """What must be on the disk before this effect is carried out."""
        disk = self.disks[node_id]
        if isinstance(effect, WriteQuorumState):
            invariants.monotonic_epoch(self._epochs[node_id], effect.state.epoch)
            self._epochs[node_id] = effect.state.epoch
        elif isinstance(effect, AppendBatch):
            invariants.append_follows_quorum_state(disk, effect.epoch)
            assert effect.base_offset >= self.high_watermarks[node_id], "MonotonicHighWatermark"
        elif isinstance(effect, TruncateLog):
            invariants.committed_is_kept(effect.end_offset, self.high_watermarks[node_id])
        elif isinstance(effect, SendRequest):
            self._check_request(node_id, effect.request)

    def _check_request(self, node_id: int, request: Message) -> None:
        disk = self.disks[node_id]
        if isinstance(request, VoteRequest):
            asked = request.topics[0].partitions[0]
            if not asked.pre_vote:
                invariants.promise_is_on_disk(disk, asked.replica_epoch)
                invariants.claim_is_on_disk(disk, asked.last_offset, asked.last_offset_epoch)
                invariants.one_vote_per_epoch(self._votes, node_id, asked.replica_epoch, node_id)
        elif isinstance(request, FetchRequest):
            fetch = request.topics[0].partitions[0]
            invariants.promise_is_on_disk(disk, fetch.current_leader_epoch)
            invariants.claim_is_on_disk(disk, fetch.fetch_offset, fetch.last_fetched_epoch)
        elif isinstance(request, BeginQuorumEpochRequest):
            invariants.promise_is_on_disk(disk, request.topics[0].partitions[0].leader_epoch)

    def answered(self, node_id: int, request: Message, effect: Respond) -> None:
        """A vote is a promise that the disk already holds, and is given once."""
        response = effect.response
        if not isinstance(request, VoteRequest) or not isinstance(response, VoteResponse):
            return
        asked = request.topics[0].partitions[0]
        if response.topics and response.topics[0].partitions[0].vote_granted and not asked.pre_vote:
            invariants.vote_is_on_disk(self.disks[node_id], asked.replica_epoch, asked.replica_id)
            invariants.one_vote_per_epoch(self._votes, node_id, asked.replica_epoch, asked.replica_id)

    def after(self, node_id: int, key: ReplicaKey, node: RaftNode, effect: RaftEffect) -> None:
        disk = self.disks[node_id]
        invariants.observers_never_vote(node, key)
        if isinstance(effect, BecameLeader):
            invariants.single_leader(self.leaders, effect.epoch, node_id)
            invariants.leader_completeness(disk, self.committed)
        elif isinstance(effect, HighWatermarkUpdated):
            invariants.monotonic_high_watermark(self.high_watermarks[node_id], effect.offset)
            self.high_watermarks[node_id] = effect.offset
            self._check_committed(disk, node, effect.offset)
        elif isinstance(effect, StartOver):
            invariants.consistent_committed_data(disk, effect.snapshot_id.offset, self.committed)
            self.check_durability()
        elif isinstance(effect, TruncateLog):
            invariants.truncated_between_batches(disk, effect.end_offset)
            self.check_durability()
        elif isinstance(effect, AppendBatch) and effect.is_control:
            self._check_voters(disk, node)
        elif isinstance(effect, Halt):
            raise AssertionError(f"NoIllegalState: {node_id} halts: {effect.text}")

    def check_durability(self) -> None:
        """Call it after every loss."""
        if self.voter_ids:
            voters = [self.disks[voter_id] for voter_id in self.voter_ids]
            invariants.durability(voters, self.committed)

    def _check_voters(self, disk: RaftDisk, node: RaftNode) -> None:
        history, _ = disk.histories()
        invariants.next_voter_set_overlaps(history)
        if node.is_leader:
            invariants.at_most_one_uncommitted_voter_change(history, len(self.committed))

    def _check_committed(self, disk: RaftDisk, node: RaftNode, offset: int) -> None:
        invariants.consistent_committed_data(disk, offset, self.committed)
        if offset > len(self.committed):
            voters = [self.disks[voter_id] for voter_id in node.voter_set.voter_ids()]
            invariants.majority_reached_high_watermark(voters, offset)
            self.committed = invariants.committed_log(disk)[:offset]
