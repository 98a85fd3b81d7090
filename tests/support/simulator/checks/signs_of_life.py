"""StableLeadership: a leader that a majority fetches from does not resign for want of it (KAFKA-15489).

One for each process. Only what the leader has answered with records or with a slice of a snapshot counts, at
the time when it was asked.
"""

from __future__ import annotations

from typing import Protocol

from kraftctl.node.events import ClientRequest, NodeEffect, NodeEvent
from kraftctl.raft import effects
from kraftctl.raft.check_quorum import CHECK_QUORUM_TIMEOUT_FACTOR
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.states import NEVER_MS
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from tests.support.simulator.checks.answered_requests import answered_ids
from tests.support.simulator.checks.invariants import broken

REPLICA_STATE_FROM_VERSION = 15
RESIGNED = "Resigned"


class Leading(Protocol):
    """Of ControllerProcess."""

    node_id: int
    raft: RaftNode

    @property
    def key(self) -> ReplicaKey: ...


class SignsOfLife:
    """`before_step` and `after_step` with each event, `answered` before each effect."""

    def __init__(self, process: Leading, fetch_timeout_ms: int) -> None:
        self._process = process
        self._timeout_ms = int(fetch_timeout_ms * CHECK_QUORUM_TIMEOUT_FACTOR)
        self._asked: dict[int, tuple[ReplicaKey, int]] = {}
        """Request id -> who fetches, and since when."""
        self._fetched_ms: dict[ReplicaKey, int] = {}
        self._deadline_ms = NEVER_MS
        self._epoch = -1
        self._voters = process.raft.voter_set

    def before_step(self, event: NodeEvent, now_ms: int) -> None:
        raft = self._process.raft
        self._deadline_ms = raft._core.state.deadline_ms if raft.is_leader else NEVER_MS
        if raft.epoch != self._epoch or raft.voter_set is not self._voters:
            self._epoch, self._voters = raft.epoch, raft.voter_set
            self._asked.clear()
            self._fetched_ms.clear()
        if isinstance(event, ClientRequest) and raft.is_leader:
            key = _replica_of(event)
            if key is not None and key != self._process.key and self._voters.is_voter(key):
                self._asked[event.request_id] = key, now_ms

    def answered(self, effect: NodeEffect) -> None:
        if not isinstance(effect, effects.Respond | effects.RespondFetch | effects.RespondFetchSnapshot):
            return
        response = effect.response
        is_sign = isinstance(response, FetchResponse) and _is_valid(response)
        for request_id in answered_ids(effect):
            asked = self._asked.pop(request_id, None)
            if asked is not None and (is_sign or isinstance(effect, effects.RespondFetchSnapshot)):
                key, at_ms = asked
                self._fetched_ms[key] = max(at_ms, self._fetched_ms.get(key, at_ms))

    def after_step(self, now_ms: int) -> None:
        raft = self._process.raft
        if now_ms < self._deadline_ms or raft.state_name != RESIGNED or raft.epoch != self._epoch:
            return
        since_ms = self._deadline_ms - self._timeout_ms
        alive = {key.id for key, at_ms in self._fetched_ms.items() if at_ms > since_ms}
        needed = len(self._voters) // 2 + 1 - self._voters.is_voter(self._process.key)
        if 0 < needed <= len(alive):
            broken(
                "StableLeadership",
                f"node {self._process.node_id} resigns from epoch {raft.epoch}, although {sorted(alive)} of"
                f" {self._voters!r} have fetched since {now_ms - since_ms} ms ago",
            )


def _replica_of(event: ClientRequest) -> ReplicaKey | None:
    request = event.request
    if isinstance(request, FetchRequest):
        has_state = event.context.version >= REPLICA_STATE_FROM_VERSION
        replica_id = request.replica_state.replica_id if has_state else request.replica_id
        return ReplicaKey(replica_id, request.topics[0].partitions[0].replica_directory_id)
    if isinstance(request, FetchSnapshotRequest):
        for topic in request.topics:
            for partition in topic.partitions:
                return ReplicaKey(request.replica_id, partition.replica_directory_id)
    return None


def _is_valid(response: FetchResponse) -> bool:
    if response.error_code != Errors.NONE or not response.responses:
        return False
    partition = response.responses[0].partitions[0]
    return (
        partition.error_code == Errors.NONE
        and partition.diverging_epoch.epoch < 0
        and partition.snapshot_id.epoch < 0
    )
