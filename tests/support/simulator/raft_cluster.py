"""Several raft nodes on one virtual clock, with a lossy and slow network, and disks that lose writes."""

from __future__ import annotations

import random
from collections.abc import Callable
from heapq import heappop, heappush
from typing import assert_never

from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.api_versions import api_versions
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.moment import Moment
from kraftctl.controller.request_context import RequestContext
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.raft.effects import (
    AppendBatch,
    BecameLeader,
    FinishSnapshot,
    FlushLog,
    Halt,
    HighWatermarkUpdated,
    LeaderChanged,
    LeadershipLost,
    NoteRecovered,
    Notice,
    RaftEffect,
    Respond,
    RespondFetch,
    RespondFetchSnapshot,
    SaveSnapshotSlice,
    SendRequest,
    StartOver,
    TruncateLog,
    WriteQuorumState,
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
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet, static_voter_set
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.principal import ANONYMOUS
from tests.support.active_controller import BASE_PROPERTIES
from tests.support.simulator.raft_checks import RaftChecks
from tests.support.simulator.raft_disk import RaftDisk
from tests.support.simulator.raft_faults import Clock, Faults, PlannedCrash
from tests.support.simulator.raft_transcript import (
    CLUSTER_ID,
    LISTENER,
    directory_id,
    effect_line,
    endpoint,
    voter_node,
)


def versions(request: Message, version: int) -> Message:
    """A replica's ApiVersions answer to a leader that is adding it as a voter, by the real handler."""
    state = ControllerState(ControllerConfig(BASE_PROPERTIES), CLUSTER_ID, MetadataImage(), random.Random(0))
    context = RequestContext(
        api=API_TABLE[ApiVersionsRequest.API_KEY],
        version=version,
        client_id="raft",
        principal=ANONYMOUS,
        listener=LISTENER,
        client_address=b"",
    )
    response = api_versions(state, context, request, Moment(0, 0, 0)).response
    assert response is not None
    return response


class Replica:
    """A node with its disk; `life` counts its processes, so that no message reaches the wrong one.

    `waiting` maps requests to (sender, its life, send id, version, request). What happens to a frozen
    process is delivered when it is resumed.
    """

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id
        self.disk = RaftDisk()
        self.node: RaftNode | None = None
        self.key = ReplicaKey(node_id, directory_id(node_id))
        self.life = 0
        self.forgot_life = 0
        self.waiting: dict[int, tuple[int, int, int, int, Message]] = {}
        self.deadline_ms: int | None = None
        self.clock = Clock()
        self.planned_crash: PlannedCrash | None = None
        self.is_frozen = False
        self.happened: list[Callable[[], None]] = []

    @property
    def high_watermark(self) -> int:
        """As this process knows it."""
        return -1 if self.node is None else self.node.high_watermark

    @property
    def recovering_epoch(self) -> int | None:
        """Not None while it may have forgotten what it acknowledged."""
        return self.disk.recovering_epoch

    @recovering_epoch.setter
    def recovering_epoch(self, epoch: int) -> None:
        self.disk.recovering_epoch = epoch


class RaftCluster:
    """`voter_ids` vote; all other replicas observe. Everything is decided by the seed.

    With `voters_change` the voters at the end may differ. Unless it `encodes`, messages are passed on as
    objects: fields that are not on the wire could then have an effect, but it takes half of the time.
    """

    def __init__(
        self,
        seed: int,
        voter_ids: list[int],
        observer_ids: list[int],
        *,
        dynamic: bool,
        faults: Faults,
        voters_change: bool = True,
        clock_percents: dict[int, int] | None = None,
        retry_backoff_ms: int = 20,
        encodes: bool = True,
    ) -> None:
        self.rng = random.Random(seed)
        self.voter_ids = voter_ids
        self.dynamic = dynamic
        self.faults = faults
        self.retry_backoff_ms = retry_backoff_ms
        self.encodes = encodes
        self.now_ms = 0
        self.sequence = 0
        self.request_id = 0
        self.events: list[tuple[int, int, Callable[[], None]]] = []
        self.cut: set[tuple[int, int]] = set()
        self.history: list[tuple[int, int, RaftEffect | str]] = []
        self.tools: dict[int, list[Message]] = {}
        self.replicas = {node_id: Replica(node_id) for node_id in voter_ids + observer_ids}
        self.by_address = {endpoint(node_id): replica for node_id, replica in self.replicas.items()}
        self.checks = RaftChecks({node_id: replica.disk for node_id, replica in self.replicas.items()})
        self.checks.voter_ids = [] if dynamic and voters_change else voter_ids
        for replica in self.replicas.values():
            if clock_percents is not None:
                replica.clock = Clock(clock_percents.get(replica.node_id, 100))
            if dynamic and replica.node_id in voter_ids:
                replica.disk.bootstrap_voters = VoterSet([voter_node(voter_id) for voter_id in voter_ids])
                replica.disk.snapshots = [SnapshotInfo(OffsetAndEpoch(0, 0), 241)]
            self.start(replica)

    @property
    def lines(self) -> list[str]:
        """The whole history, one effect per line."""
        return [
            f"{now_ms} {node_id} {entry if isinstance(entry, str) else effect_line(entry)}"
            for now_ms, node_id, entry in self.history
        ]

    @property
    def leaders(self) -> dict[int, int]:
        return self.checks.leaders

    @property
    def committed(self) -> list[tuple[int, bytes]]:
        return self.checks.committed

    @committed.setter
    def committed(self, log: list[tuple[int, bytes]]) -> None:
        self.checks.committed = log

    # What a test may do

    def run_for(self, duration_ms: int) -> None:
        until_ms = self.now_ms + duration_ms
        while self.events and self.events[0][0] <= until_ms:
            at_ms, _, happen = heappop(self.events)
            self.now_ms = at_ms
            happen()
        self.now_ms = until_ms

    def crash(self, node_id: int, surviving: int = 0) -> None:
        """The power fails; of what was not flushed, `surviving` batches are kept."""
        replica = self.replicas[node_id]
        self._end_process(replica, "loses power")
        replica.disk.crash(surviving)
        self.checks.check_durability()

    def crash_with_any_tail(self, node_id: int) -> None:
        """A power failure; all, some or nothing of what was not flushed survives, as the seed decides."""
        unflushed = self.replicas[node_id].disk.unflushed_count()
        self.crash(node_id, self.rng.choice((0, unflushed, self.rng.randint(0, unflushed))))

    def kill(self, node_id: int) -> None:
        """The process ends alone: what it has written is kept, and its messages are delivered."""
        self._end_process(self.replicas[node_id], "is killed")

    def forget(self, node_id: int, *, log: bool = True, votes: bool = True) -> None:
        """Its disk is lost except for its identity. What it sent before has arrived or never will."""
        replica = self.replicas[node_id]
        self._end_process(replica, "forgets")
        replica.disk.forget(log=log, votes=votes)
        replica.forgot_life = replica.life
        self.checks.forgot(node_id)
        self.checks.check_durability()

    def _end_process(self, replica: Replica, how: str) -> None:
        self.history.append((self.now_ms, replica.node_id, how))
        replica.node = None
        replica.life += 1
        replica.waiting.clear()
        replica.planned_crash = None
        replica.is_frozen = False
        replica.happened.clear()

    def freeze(self, node_id: int) -> None:
        """Like a long pause of its machine: only the clock continues."""
        if self.replicas[node_id].node is not None:
            self.replicas[node_id].is_frozen = True

    def resume(self, node_id: int) -> None:
        """It processes everything that has arrived during the pause, in order."""
        replica = self.replicas[node_id]
        replica.is_frozen = False
        happened, replica.happened = replica.happened, []
        for happen in happened:
            happen()

    def start(self, replica: Replica) -> None:
        static = {} if self.dynamic else {voter_id: endpoint(voter_id) for voter_id in self.voter_ids}
        replica.disk.recover()
        voters, versions = replica.disk.histories()
        config = RaftConfig()
        config.bootstrap_servers = [endpoint(voter_id) for voter_id in self.voter_ids]
        config.fetch_snapshot_bytes_max = 2_000
        config.retry_backoff_ms = self.retry_backoff_ms
        self.checks.restarted(replica.node_id)
        replica.deadline_ms = None
        replica.clock.offset_ms = 0 if replica.life == 0 else self.rng.randrange(1 << 20)
        replica.node = RaftNode(
            node_id=replica.node_id,
            directory_id=replica.key.directory_id,
            cluster_id=CLUSTER_ID,
            endpoints={LISTENER: endpoint(replica.node_id)},
            config=config,
            rng=random.Random(self.rng.randrange(1 << 30)),
            log=replica.disk.log_state(),
            quorum_state=replica.disk.quorum_state,
            static_voters=static_voter_set(LISTENER, static),
            voter_history=voters,
            kraft_version_history=versions,
            recovering_epoch=replica.disk.recovering_epoch,
        )
        self.step(replica, Started())

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
        for node_id, replica in self.replicas.items():
            replica.planned_crash = None
            self.resume(node_id)

    def leader(self) -> Replica | None:
        """The leader of the highest epoch: a deposed one may not know yet."""
        leading = [replica for replica in self.replicas.values() if replica.node and replica.node.is_leader]
        return max(leading, key=lambda replica: replica.node.epoch if replica.node else -1, default=None)

    def take_snapshot(self, replica: Replica) -> None:
        """A snapshot of everything it knows to be committed, which is then deleted from its log."""
        assert replica.node is not None
        taken = replica.disk.take_snapshot(replica.node.high_watermark)
        if taken is not None:
            self.step(replica, SnapshotCreated(taken.snapshot_id, taken.size_bytes))
            self.step(replica, LogStartChanged(taken.snapshot_id.offset))

    def append(self, replica: Replica, count: int) -> None:
        assert replica.node is not None
        value = self.rng.randbytes(4)
        _, effects = replica.node.append([value] * count, replica.clock.local_ms(self.now_ms), self.now_ms)
        self._carry_out(replica, effects)

    def ask(self, replica: Replica, request: Message) -> list[Message]:
        """Send a request as a tool does; the answer is added to the returned list."""
        answers: list[Message] = []
        self.request_id += 1
        self.tools[self.request_id] = answers
        version = type(request).HIGHEST_VERSION
        self.step(
            replica, RequestReceived(self.request_id, LISTENER, type(request).API_KEY, version, request)
        )
        return answers

    # How it works

    def at(self, delay_ms: int, happen: Callable[[], None]) -> None:
        self.sequence += 1
        heappush(self.events, (self.now_ms + delay_ms, self.sequence, happen))

    def _happens_to(self, replica: Replica, delay_ms: int, life: int, happen: Callable[[], None]) -> None:
        """Run `happen` if this process of the replica is still running; if it is frozen, after it resumes."""

        def begin() -> None:
            if replica.life != life:
                return
            if replica.is_frozen:
                replica.happened.append(begin)
            else:
                happen()

        self.at(delay_ms, begin)

    def step(self, replica: Replica, event: RaftEvent) -> None:
        """Nothing happens if the process has ended while it carried out earlier effects."""
        if replica.node is not None:
            local_ms = replica.clock.local_ms(self.now_ms)
            self._carry_out(replica, replica.node.step(event, local_ms, self.now_ms))

    def _carry_out(self, replica: Replica, effects: list[RaftEffect]) -> None:
        """One after the other, until the process ends."""
        assert replica.node is not None
        finished: FinishSnapshot | None = None
        for effect in effects:
            if self._ends_here(replica, effect, before=True):
                return
            self.history.append((self.now_ms, replica.node_id, effect))
            self.checks.before(replica.node_id, effect)
            replica.disk.apply(effect)
            self.check(replica, effect)
            if isinstance(effect, FinishSnapshot):
                finished = effect
            else:
                self._execute(replica, effect)
            if self._ends_here(replica, effect, before=False):
                return
        self._watch_deadline(replica)
        if finished is not None:
            self.step(replica, replica.disk.downloaded(finished.snapshot_id))

    def check(self, replica: Replica, effect: RaftEffect) -> None:
        """After each effect."""
        assert replica.node is not None
        self.checks.after(replica.node_id, replica.key, replica.node, effect)

    def _ends_here(self, replica: Replica, effect: RaftEffect, *, before: bool) -> bool:
        planned = replica.planned_crash
        if planned is None or not planned.is_due(effect, before=before):
            return False
        if planned.power_fails:
            self.crash_with_any_tail(replica.node_id)
        else:
            self.kill(replica.node_id)
        return True

    def _execute(self, replica: Replica, effect: RaftEffect) -> None:
        """Carry out what concerns messages and flushes; the disk has applied the rest."""
        match effect:
            case FlushLog():
                self._flush(replica, effect)
            case SendRequest():
                self._send(replica, effect)
            case RespondFetch():
                batches = replica.disk.read(effect.read_offset, effect.end_offset, effect.max_bytes)
                records = b"".join(batch.batch for batch in batches)
                self._respond(replica, effect.request_id, effect.response_with(records))
            case RespondFetchSnapshot():
                data = replica.disk.snapshot_files[effect.snapshot_id]
                wanted = data[effect.position : effect.position + effect.size_bytes]
                self._respond(replica, effect.request_id, effect.response_with(wanted))
            case Respond():
                if effect.request_id in replica.waiting:
                    self.checks.answered(replica.node_id, replica.waiting[effect.request_id][4], effect)
                self._respond(replica, effect.request_id, effect.response)
            case AppendBatch() | WriteQuorumState() | TruncateLog() | NoteRecovered():
                pass
            case SaveSnapshotSlice() | FinishSnapshot() | StartOver():
                pass
            case HighWatermarkUpdated() | BecameLeader() | LeadershipLost() | LeaderChanged():
                pass
            case Notice() | Halt():
                pass
            case _:
                assert_never(effect)

    def _watch_deadline(self, replica: Replica) -> None:
        assert replica.node is not None
        deadline_ms = replica.node.next_deadline_ms
        if deadline_ms is None or deadline_ms == replica.deadline_ms:
            return
        replica.deadline_ms = deadline_ms

        def happen() -> None:
            # A timer that was replaced since is cancelled, as by the driver.
            if replica.deadline_ms == deadline_ms:
                replica.deadline_ms = None
                self.step(replica, DeadlineReached())

        delay_ms = replica.clock.delay_ms(deadline_ms, self.now_ms)
        self._happens_to(replica, delay_ms, replica.life, happen)

    def _flush(self, replica: Replica, effect: FlushLog) -> None:
        written = list(replica.disk.batches)

        def happen() -> None:
            replica.disk.finish_flush(written)
            self.step(replica, LogFlushed(effect.end_offset))

        self._happens_to(replica, self.faults.flush_ms(replica.node_id, self.rng), replica.life, happen)

    def _send(self, sender: Replica, effect: SendRequest) -> None:
        receiver = self.by_address[effect.host, effect.port]
        assert effect.destination_id in (receiver.node_id, *range(-9, -1))
        version = type(effect.request).HIGHEST_VERSION
        read_request = self._transfer(effect.request, version)
        life, send_id, api_key = sender.life, effect.send_id, effect.api_key

        def arrive() -> None:
            if life < sender.forgot_life:
                return
            if receiver.node is None:
                self._answer_later(sender, life, send_id, None)
                return
            request = read_request()
            if api_key == ApiVersionsRequest.API_KEY:
                self._answer_later(sender, life, send_id, versions(request, version))
                return
            self.request_id += 1
            receiver.waiting[self.request_id] = (sender.node_id, life, send_id, version, request)
            self.step(receiver, RequestReceived(self.request_id, LISTENER, api_key, version, request))

        self._deliver(sender, receiver, arrive)

    def _answer_later(self, sender: Replica, life: int, send_id: int, answer: Message | None) -> None:
        self._happens_to(sender, 1, life, lambda: self.step(sender, ResponseReceived(send_id, answer)))

    def _respond(self, replica: Replica, request_id: int, response: Message) -> None:
        if request_id in self.tools:
            self.tools.pop(request_id).append(response)
            return
        sender_id, life, send_id, version, _ = replica.waiting.pop(request_id)
        sender = self.replicas[sender_id]
        read_response = self._transfer(response, version)

        def arrive() -> None:
            if sender.life == life:
                self.step(sender, ResponseReceived(send_id, read_response()))

        self._deliver(replica, sender, arrive)

    def _transfer(self, message: Message, version: int) -> Callable[[], Message]:
        """Decodes the message at the receiver, maybe twice."""
        if not self.encodes:
            return lambda: message
        data = message.encode(version)
        return lambda: type(message).decode(data, version)

    def _deliver(self, source: Replica, target: Replica, arrive: Callable[[], None]) -> None:
        """Deliver a message once, never, or twice; to a frozen target after it resumes."""
        faults, rng = self.faults, self.rng
        pair = (source.node_id, target.node_id)
        if rng.random() < faults.loss or pair in self.cut:
            return
        copies = 2 if faults.duplicates and rng.random() < faults.duplicates else 1

        def begin() -> None:
            if target.is_frozen:
                target.happened.append(begin)
            else:
                arrive()

        for _ in range(copies):
            self.at(faults.delay_ms(*pair, rng), begin)
