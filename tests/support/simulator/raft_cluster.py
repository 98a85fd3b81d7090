"""Several raft nodes on one virtual clock, with a network that loses and delays and disks that forget."""

from __future__ import annotations

import random
from collections.abc import Callable
from heapq import heappop, heappush

from kraftctl.config import ControllerConfig
from kraftctl.controller.api_versions import api_versions
from kraftctl.controller.controller_state import ControllerState
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.raft.effects import (
    AppendBatch,
    BecameLeader,
    FinishSnapshot,
    FlushLog,
    Halt,
    HighWatermarkUpdated,
    NoteRecovered,
    RaftEffect,
    Respond,
    RespondFetch,
    RespondFetchSnapshot,
    SendRequest,
    StartOver,
    TruncateLog,
)
from kraftctl.raft.events import (
    DeadlineReached,
    LogFlushed,
    LogStartChanged,
    RaftEvent,
    RequestReceived,
    ResponseReceived,
    SnapshotCreated,
    Started,
)
from kraftctl.raft.log_state import SnapshotInfo
from kraftctl.raft.offset_and_epoch import OffsetAndEpoch
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet, static_voter_set
from kraftctl.request_context import RequestContext
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import ANONYMOUS
from tests.support.active_controller import BASE_PROPERTIES
from tests.support.raft_disk import RaftDisk
from tests.support.raft_transcript import (
    CLUSTER_ID,
    LISTENER,
    directory_id,
    effect_line,
    endpoint,
    voter_node,
)
from tests.support.simulator import raft_invariants as invariants


def versions(request: Message, version: int) -> Message:
    """A replica's answer to a leader that is about to make a voter of it, by the real handler."""
    state = ControllerState(ControllerConfig(BASE_PROPERTIES), CLUSTER_ID, MetadataImage(), random.Random(0))
    context = RequestContext(
        api_key=ApiVersionsRequest.API_KEY,
        version=version,
        client_id="raft",
        principal=ANONYMOUS,
        listener=LISTENER,
        client_address=b"",
    )
    response = api_versions(state, context, request, 0).response
    assert response is not None
    return response


class Faults:
    """Chances per message, and the longest delay in ms."""

    def __init__(self, *, loss: float = 0.0, delay_ms_max: int = 5, flush_ms_max: int = 10) -> None:
        self.loss = loss
        self.delay_ms_max = delay_ms_max
        self.flush_ms_max = flush_ms_max


class Replica:
    """A node with its disk; `life` counts its processes, so that nothing reaches the wrong one."""

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id
        self.disk = RaftDisk()
        self.node: RaftNode | None = None
        self.life = 0
        self.high_watermark = -1
        self.recovering_epoch: int | None = None
        self.waiting: dict[int, tuple[int, int, int, int]] = {}
        self.deadline_ms: int | None = None


class RaftCluster:
    """`voter_ids` vote; all other replicas observe. Everything is decided by the seed."""

    def __init__(
        self, seed: int, voter_ids: list[int], observer_ids: list[int], *, dynamic: bool, faults: Faults
    ) -> None:
        self.rng = random.Random(seed)
        self.voter_ids = voter_ids
        self.dynamic = dynamic
        self.faults = faults
        self.now_ms = 0
        self.sequence = 0
        self.request_id = 0
        self.events: list[tuple[int, int, Callable[[], None]]] = []
        self.cut: set[tuple[int, int]] = set()
        self.leaders: dict[int, int] = {}
        self.committed: list[tuple[int, bytes]] = []
        self.lines: list[str] = []
        self.tools: dict[int, list[Message]] = {}
        self.replicas = {node_id: Replica(node_id) for node_id in voter_ids + observer_ids}
        for replica in self.replicas.values():
            if dynamic and replica.node_id in voter_ids:
                replica.disk.bootstrap_voters = VoterSet([voter_node(voter_id) for voter_id in voter_ids])
                replica.disk.snapshots = [SnapshotInfo(OffsetAndEpoch(0, 0), 241)]
            self.start(replica)

    # What a test may do

    def run_for(self, duration_ms: int) -> None:
        until_ms = self.now_ms + duration_ms
        while self.events and self.events[0][0] <= until_ms:
            at_ms, _, happen = heappop(self.events)
            self.now_ms = at_ms
            happen()
        self.now_ms = until_ms

    def crash(self, node_id: int) -> None:
        replica = self.replicas[node_id]
        replica.node = None
        replica.life += 1
        replica.waiting.clear()
        replica.disk.crash()

    def start(self, replica: Replica) -> None:
        static = {} if self.dynamic else {voter_id: endpoint(voter_id) for voter_id in self.voter_ids}
        voters, versions = replica.disk.histories()
        config = RaftConfig()
        config.bootstrap_servers = [endpoint(voter_id) for voter_id in self.voter_ids]
        config.fetch_snapshot_bytes_max = 2_000
        replica.high_watermark = -1
        replica.deadline_ms = None
        replica.node = RaftNode(
            node_id=replica.node_id,
            directory_id=directory_id(replica.node_id),
            cluster_id=CLUSTER_ID,
            endpoints={LISTENER: endpoint(replica.node_id)},
            config=config,
            rng=random.Random(self.rng.randrange(1 << 30)),
            log=replica.disk.log_state(),
            quorum_state=replica.disk.quorum_state,
            static_voters=static_voter_set(LISTENER, static),
            voter_history=voters,
            kraft_version_history=versions,
            recovering_epoch=replica.recovering_epoch,
        )
        self.step(replica, Started())

    def forget(self, node_id: int) -> None:
        """Crash, and lose log, snapshots and votes; what is left is who this is, and its last epoch."""
        self.crash(node_id)
        replica = self.replicas[node_id]
        election = replica.disk.quorum_state
        if replica.recovering_epoch is None:
            replica.recovering_epoch = 0
        replica.recovering_epoch = max(replica.recovering_epoch, 0 if election is None else election.epoch)
        replica.disk = RaftDisk()

    def restart_all(self) -> None:
        self.restart_all_but()

    def restart_all_but(self, *node_ids: int) -> None:
        for replica in self.replicas.values():
            if replica.node is None and replica.node_id not in node_ids:
                self.start(replica)

    def isolate(self, node_id: int) -> None:
        for other in self.replicas:
            self.cut.add((node_id, other))
            self.cut.add((other, node_id))

    def heal(self) -> None:
        self.cut.clear()
        self.faults = Faults()

    def leader(self) -> Replica | None:
        """The one of the highest epoch: a deposed one may not know yet."""
        leading = [replica for replica in self.replicas.values() if replica.node and replica.node.is_leader]
        return max(leading, key=lambda replica: replica.node.epoch if replica.node else -1, default=None)

    def take_snapshot(self, replica: Replica) -> None:
        """Of all that it knows to be committed; nothing of that stays in its log."""
        taken = replica.disk.take_snapshot(replica.high_watermark)
        if taken is not None:
            self.step(replica, SnapshotCreated(taken.snapshot_id, taken.size_bytes))
            self.step(replica, LogStartChanged(taken.snapshot_id.offset))

    def append(self, replica: Replica, count: int) -> None:
        assert replica.node is not None
        value = self.rng.randbytes(4)
        _, effects = replica.node.append([value] * count, self.now_ms, self.now_ms)
        self.carry_out(replica, effects)

    # How it works

    def at(self, delay_ms: int, happen: Callable[[], None]) -> None:
        self.sequence += 1
        heappush(self.events, (self.now_ms + delay_ms, self.sequence, happen))

    def step(self, replica: Replica, event: RaftEvent) -> None:
        assert replica.node is not None
        self.carry_out(replica, replica.node.step(event, self.now_ms, self.now_ms))

    def step_later(self, replica: Replica, delay_ms: int, event: RaftEvent) -> None:
        life = replica.life

        def happen() -> None:
            if replica.life == life:
                self.step(replica, event)

        self.at(delay_ms, happen)

    def carry_out(self, replica: Replica, effects: list[RaftEffect]) -> None:
        finished: FinishSnapshot | None = None
        for effect in effects:
            self.lines.append(f"{self.now_ms} {replica.node_id} {effect_line(effect)}")
            if isinstance(effect, TruncateLog):
                assert effect.end_offset >= replica.high_watermark, "committed records were truncated"
            replica.disk.apply(effect)
            self.check(replica, effect)
            if isinstance(effect, FlushLog):
                self._flush(replica, effect)
            elif isinstance(effect, SendRequest):
                self._send(replica, effect)
            elif isinstance(effect, RespondFetch):
                batches = replica.disk.read(effect.read_offset, effect.end_offset, effect.max_bytes)
                records = b"".join(batch.batch for batch in batches)
                effect.response.responses[0].partitions[0].records = records
                self._respond(replica, effect.request_id, effect.response)
            elif isinstance(effect, RespondFetchSnapshot):
                data = replica.disk.snapshot_files[effect.snapshot_id]
                wanted = data[effect.position : effect.position + effect.size_bytes]
                effect.response.topics[0].partitions[0].unaligned_records = wanted
                self._respond(replica, effect.request_id, effect.response)
            elif isinstance(effect, FinishSnapshot):
                finished = effect
            elif isinstance(effect, NoteRecovered):
                replica.recovering_epoch = None
            elif isinstance(effect, Halt):
                raise AssertionError(effect.text)
            elif isinstance(effect, Respond):
                self._respond(replica, effect.request_id, effect.response)
        self._watch_deadline(replica)
        if finished is not None:
            self.step(replica, replica.disk.downloaded(finished.snapshot_id))

    def _watch_deadline(self, replica: Replica) -> None:
        assert replica.node is not None
        deadline_ms = replica.node.next_deadline_ms
        if deadline_ms is None or deadline_ms == replica.deadline_ms:
            return
        replica.deadline_ms = deadline_ms
        life = replica.life

        def happen() -> None:
            # A timer that was set anew since is cancelled, as by the driver.
            if replica.life == life and replica.deadline_ms == deadline_ms:
                replica.deadline_ms = None
                self.step(replica, DeadlineReached())

        self.at(max(0, deadline_ms - self.now_ms), happen)

    def _flush(self, replica: Replica, effect: FlushLog) -> None:
        life = replica.life

        def happen() -> None:
            if replica.life == life:
                replica.disk.flush(effect)
                self.step(replica, LogFlushed(effect.end_offset))

        self.at(self.rng.randint(0, self.faults.flush_ms_max), happen)

    def _send(self, sender: Replica, effect: SendRequest) -> None:
        by_address = {endpoint(other.node_id): other for other in self.replicas.values()}
        receiver = by_address[effect.host, effect.port]
        assert effect.destination_id in (receiver.node_id, *range(-9, -1))
        version = type(effect.request).HIGHEST_VERSION
        data = effect.request.encode(version)
        life, send_id, api_key = sender.life, effect.send_id, effect.api_key
        request_type = type(effect.request)

        def arrive() -> None:
            if receiver.node is None:
                self.step_later_if(sender, life, ResponseReceived(send_id, None))
                return
            if api_key == ApiVersionsRequest.API_KEY:
                answer = versions(request_type.decode(data, version), version)
                self.step_later_if(sender, life, ResponseReceived(send_id, answer))
                return
            self.request_id += 1
            receiver.waiting[self.request_id] = (sender.node_id, life, send_id, version)
            request = request_type.decode(data, version)
            self.step(receiver, RequestReceived(self.request_id, LISTENER, api_key, version, request))

        self._deliver(sender.node_id, receiver.node_id, arrive)

    def step_later_if(self, replica: Replica, life: int, event: RaftEvent) -> None:
        if replica.life == life:
            self.step_later(replica, 1, event)

    def ask(self, replica: Replica, request: Message) -> list[Message]:
        """As a tool does; the answer will be in the list that is returned."""
        answers: list[Message] = []
        self.request_id += 1
        self.tools[self.request_id] = answers
        version = type(request).HIGHEST_VERSION
        self.step(
            replica, RequestReceived(self.request_id, LISTENER, type(request).API_KEY, version, request)
        )
        return answers

    def _respond(self, replica: Replica, request_id: int, response: Message) -> None:
        if request_id in self.tools:
            self.tools.pop(request_id).append(response)
            return
        sender_id, life, send_id, version = replica.waiting.pop(request_id)
        sender = self.replicas[sender_id]
        data = response.encode(version)
        response_type = type(response)

        def arrive() -> None:
            if sender.life == life and sender.node is not None:
                self.step(sender, ResponseReceived(send_id, response_type.decode(data, version)))

        self._deliver(replica.node_id, sender_id, arrive)

    def _deliver(self, source: int, target: int, arrive: Callable[[], None]) -> None:
        if self.rng.random() < self.faults.loss or (source, target) in self.cut:
            return
        self.at(self.rng.randint(0, self.faults.delay_ms_max), arrive)

    # What must hold

    def check(self, replica: Replica, effect: RaftEffect) -> None:
        assert replica.node is not None
        key = ReplicaKey(replica.node_id, directory_id(replica.node_id))
        invariants.observers_never_vote(replica.node, key)
        if isinstance(effect, BecameLeader):
            invariants.single_leader(self.leaders, effect.epoch, replica.node_id)
            invariants.leader_completeness(replica.disk, self.committed)
        elif isinstance(effect, HighWatermarkUpdated):
            invariants.monotonic_high_watermark(replica.high_watermark, effect.offset)
            replica.high_watermark = effect.offset
            self._check_committed(replica, effect.offset)
        elif isinstance(effect, StartOver):
            invariants.consistent_committed_data(replica.disk, effect.snapshot_id.offset, self.committed)
        elif isinstance(effect, AppendBatch):
            assert effect.base_offset >= replica.high_watermark, "MonotonicHighWatermark"
            if effect.is_control:
                self._check_voters(replica)

    def _check_voters(self, replica: Replica) -> None:
        history, _ = replica.disk.histories()
        invariants.next_voter_set_overlaps(history)
        if replica.node is not None and replica.node.is_leader:
            invariants.at_most_one_uncommitted_voter_change(history, replica.high_watermark)

    def _check_committed(self, replica: Replica, offset: int) -> None:
        invariants.consistent_committed_data(replica.disk, offset, self.committed)
        if offset > len(self.committed):
            assert replica.node is not None
            voters = [self.replicas[voter_id].disk for voter_id in replica.node.voter_set.voter_ids()]
            invariants.majority_reached_high_watermark(voters, offset)
            self.committed = invariants.committed_log(replica.disk)[:offset]
