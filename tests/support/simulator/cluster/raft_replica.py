"""One raft node on a simulated disk, without a controller, a network or other nodes.

The real executor carries out its effects on a real metadata partition. Nothing takes time, and a flush ends
when the test says so: until then a power failure may take what it writes.
"""

from __future__ import annotations

import logging
import random
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from kraftctl.controller.audit.audit_trail import AuditEntry
from kraftctl.controller.results.noted_refusal import NotedRefusal
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.node.events import (
    AuthorizerLines,
    BodyRefused,
    ClientRequest,
    LogRead,
    NodeEvent,
    RequestFailed,
    SnapshotRead,
    TurnTaken,
    UndecodedRequest,
    WriteSnapshot,
)
from kraftctl.node.request_outcomes import Answer
from kraftctl.raft.effects import (
    BecameLeader,
    Halt,
    HighWatermarkUpdated,
    LeaderChanged,
    LeadershipConfirmed,
    LeadershipLost,
    Notice,
    RaftEffect,
    SendRequest,
)
from kraftctl.raft.events import RaftEvent, RequestCancelled, RequestReceived, Started
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet, static_voter_set
from kraftctl.server.loop.effect_executor import EffectExecutor
from kraftctl.server.loop.executor_protocols import RetentionDue
from kraftctl.server.loop.turn_probe import TurnProbe
from kraftctl.server.process.finished_call import Finished
from kraftctl.server.process.snapshot_downloads import SnapshotDownloads
from kraftctl.server.process.worker_thread import Ended
from kraftctl.storage.control_history import read_control_history
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.batch_framing import scan_batches
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch
from kraftctl_protocol.shared_response import unshared
from tests.support.file_states import Aftermath
from tests.support.raft_names import CLUSTER_ID, LISTENER, directory_id, endpoint, voter_node
from tests.support.simulator.cluster.clocks import WALL_START_MS, SimulatedClock
from tests.support.simulator.cluster.small_turns import SmallTurns
from tests.support.simulator.cluster.virtual_time import Timer, VirtualTime
from tests.support.simulator.disks.disk import SimulatedDisk
from tests.support.simulator.disks.storage_call import watch_locks

WALL_MS_AT_START = 1_000_000

OTHER_LISTENER = {"OTHER": ("other", 1)}

RETENTION_BYTES = 0

FOR_THE_STATE_MACHINE = (
    HighWatermarkUpdated,
    BecameLeader,
    LeadershipConfirmed,
    LeadershipLost,
    LeaderChanged,
)
"""Each time retention runs, the newest snapshot takes the place of everything before it."""

T = TypeVar("T")

logger = logging.getLogger("tests.simulator.silent")
logger.disabled = True


class InstantThreads:
    """A `Scheduler` whose calls end when they are handed over, except for the one flush."""

    def __init__(self, time: VirtualTime, disk: SimulatedDisk) -> None:
        self._time = time
        self._disk = disk
        self._flush: Callable[[], None] | None = None

    def run_on_storage_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        done(Ended(call(), None))

    def run_on_snapshot_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        done(Ended(call(), None))

    def run_on_decoding_thread(
        self, call: Callable[[Callable[[], object]], T], done: Callable[[Finished[T]], None]
    ) -> None:
        raise AssertionError("raft decodes no requests")

    def run_on_flush_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        """It writes now, and what it wrote is forced when it ends."""
        assert self._flush is None, "a flush began before the last one ended"
        flushing = self._disk.begin()
        result = call()
        self._disk.code_ended(flushing)

        def end() -> None:
            self._disk.finish(flushing)
            done(Ended(result, None))

        self._flush = end

    @property
    def has_flush(self) -> bool:
        return self._flush is not None

    def end_flush(self) -> None:
        end, self._flush = self._flush, None
        assert end is not None, "no flush is in progress"
        end()

    def call_soon(self, call: Callable[[], None]) -> None:
        self._time.call_after(0, call)

    call_after_sockets = call_soon

    def call_later(self, delay_seconds: float, call: Callable[[], None]) -> Timer:
        return self._time.call_after(round(delay_seconds * 1_000_000), call)


class Clients:
    """A `Network` that hands over each answer; other controllers do not answer. Ids may repeat."""

    def __init__(self, answered: Callable[[int, Message], None]) -> None:
        self._answered = answered
        self.waiting: list[int] = []
        self.decoded_bytes = 0

    def note_decoded(self, request_id: int, size_bytes: int) -> None:
        raise AssertionError("raft decodes no body")

    def awaits(self, request_id: int) -> bool:
        return request_id in self.waiting

    def address_of(self, request_id: int) -> bytes:
        return b""

    def is_voter(self, request_id: int) -> bool:
        return False

    def has_room(self) -> bool:
        return True

    def respond(self, request_id: int, answer: Answer) -> None:
        assert isinstance(answer, Message), "raft closes no connection"
        self.waiting.remove(request_id)
        self._answered(request_id, unshared(answer))

    def send(self, effect: SendRequest) -> None:
        pass

    def cancel_all(self) -> None:
        self.waiting.clear()


class RaftReplica:
    """A replica with an empty disk; `begin` a process on it, and `lose_power` or `kill` it to begin another.

    `dynamic` is kraft.version 1: `voter_ids`, on their first disks, come from a 0-0 checkpoint. `watch` sees
    each effect before it is carried out, `answered` each answer as it leaves. The files must be attached
    during every call.
    """

    def __init__(
        self,
        node_id: int,
        voter_ids: list[int],
        disk: SimulatedDisk,
        *,
        dynamic: bool,
        watch: Callable[[RaftEffect], None],
        answered: Callable[[int, Message], None],
        generation: int = 0,
        bootstrap_servers: list[tuple[str, int]] | None = None,
    ) -> None:
        self.key = ReplicaKey(node_id, directory_id(node_id, generation))
        self._bootstrap_servers = bootstrap_servers
        self.endpoint = endpoint(node_id)
        self.disk = disk
        self.ended = False
        self._watch = watch
        self._time = VirtualTime()
        self._clock = SimulatedClock(self._time, wall_ahead_ms=WALL_MS_AT_START - WALL_START_MS)
        self._clients = Clients(answered)
        self._static_voters = VoterSet([])
        if dynamic:
            self._write_bootstrap_checkpoint(VoterSet([voter_node(voter_id) for voter_id in voter_ids]))
        else:
            self._static_voters = static_voter_set(
                LISTENER, {voter_id: endpoint(voter_id) for voter_id in voter_ids}
            )
        self._open()

    def _write_bootstrap_checkpoint(self, voters: VoterSet) -> None:
        batches = SnapshotBatches(BOOTSTRAP_SNAPSHOT_ID.epoch, WALL_MS_AT_START)
        header = batches.header(WALL_MS_AT_START, 1, voters.to_record())
        store = SnapshotStore.open(self.disk.root / PARTITION_DIRECTORY)
        store.write(BOOTSTRAP_SNAPSHOT_ID, [header, batches.footer()])

    # Its processes.

    def _open(self) -> None:
        self.partition = MetadataPartition.open(
            self.disk.root, self.key, now_ms=self._clock.now_ms, static_voters=self._static_voters
        )
        watch_locks(self.partition, self.disk)

    def begin(self) -> None:
        """A node in the state that the partition is in."""
        self.ended = False
        history = read_control_history(self.partition.log, self.partition.snapshots)
        self.node = RaftNode(
            node_id=self.key.id,
            directory_id=self.key.directory_id,
            cluster_id=CLUSTER_ID,
            endpoints={LISTENER: self.endpoint} | OTHER_LISTENER,
            config=RaftConfig(bootstrap_servers=self._bootstrap_servers),
            rng=random.Random(self.key.id),
            log=self.partition.log_state(),
            quorum_state=self.partition.read_quorum_state(),
            static_voters=self._static_voters,
            voter_history=history.voters,
            kraft_version_history=history.kraft_versions,
            recovering_epoch=self.partition.recovering_epoch,
            stored_committed_end=self.partition.committed_end,
        )
        self._events: deque[RaftEvent] = deque()
        self._retention_is_due = False
        self._threads = InstantThreads(self._time, self.disk)
        self._executor = EffectExecutor(
            storage=self.partition,
            downloads=SnapshotDownloads(self.partition.snapshots),
            network=self._clients,
            clock=self._clock,
            scheduler=self._threads,
            notices=self,
            inbox=self,
            probe=TurnProbe(logger, lambda: self._time.now_us / 1e6),
            pace=SmallTurns(self.key.id),
            retention_bytes=RETENTION_BYTES,
            retention_ms=-1,
        )

    def lose_power(self, aftermath: Aftermath = Aftermath.STRICT, rng: random.Random | None = None) -> None:
        """Lose what was not forced to the disk, or a part of it, and recover what is left."""
        self._clients.cancel_all()
        self.disk.lose_power(aftermath, random.Random(0) if rng is None else rng)
        self._open()

    def kill(self) -> None:
        """SIGKILL: what was written stays, forced or not."""
        self._clients.cancel_all()
        self.disk.kill(random.Random(0))
        self._open()

    # What happens to it.

    @property
    def now_ms(self) -> int:
        return self._clock.now_ms()

    def pass_time(self, duration_ms: int) -> None:
        """Without any event."""
        self._time.run_for(duration_ms * 1000)

    def start(self) -> None:
        self.step(Started())

    def step(self, event: RaftEvent) -> None:
        self._carry_out(self.node.step(event, self._clock.now_ms(), self._clock.wall_ms()))

    def append(self, values: list[bytes]) -> int:
        """Returns the base offset."""
        base_offset, wanted = self.node.append(values, self._clock.now_ms(), self._clock.wall_ms())
        self._carry_out(wanted)
        return base_offset

    def confirm_leadership(self) -> int:
        """Returns the round."""
        asked, wanted = self.node.confirm_leadership(self._clock.now_ms(), self._clock.wall_ms())
        self._carry_out(wanted)
        return asked

    def request(self, request: Message, version: int, request_id: int, listener: str = LISTENER) -> None:
        """As received: what is not on the wire in this version must not decide anything."""
        decoded = type(request).decode(request.encode(version), version)
        self._clients.waiting.append(request_id)
        self.step(RequestReceived(request_id, listener, type(request).API_KEY, version, decoded))

    def cancel(self, request_id: int) -> None:
        self._clients.waiting.remove(request_id)
        self.step(RequestCancelled(request_id))

    @property
    def waiting(self) -> list[int]:
        """The requests without a response."""
        return self._clients.waiting

    @property
    def is_flushing(self) -> bool:
        return self._threads.has_flush

    def end_flush(self) -> None:
        self._threads.end_flush()
        self._take_events()

    def write_snapshot(self, snapshot_id: OffsetAndEpoch, batches: list[bytes]) -> None:
        """What a node does when enough was committed; retention waits for `clean`."""
        self._executor.execute(WriteSnapshot(snapshot_id, batches))
        self._take_events()

    def clean(self) -> None:
        """Retention runs, as it does after each snapshot."""
        assert self._retention_is_due
        self._retention_is_due = False
        self._executor.execute(RetentionDue())
        self._take_events()

    def forced_end_offset(self) -> int:
        """Where the log ends after the worst of power failures. Not for logs of more than one segment."""
        path = self.partition.log.last_segment_path
        places = list(scan_batches(self.disk.content(path, forced=True), 0, 0))
        return places[-1].last_offset + 1 if places else 0

    def _carry_out(self, wanted: list[RaftEffect]) -> None:
        """The effects for the state machine have no other end here than `watch`."""
        assert not self.ended, "the process has ended"
        for effect in wanted:
            self._watch(effect)
            if isinstance(effect, FOR_THE_STATE_MACHINE):
                continue
            if isinstance(effect, Halt):
                self._halt(effect)
                return
            self._executor.execute(effect)
            assert not self._executor.paused
        self._take_events()

    def _halt(self, effect: Halt) -> None:
        """The process ends here: the effects that follow are not carried out."""
        halted = False
        try:
            self._executor.execute(effect)
        except StorageError:
            halted = True
        assert halted
        self.ended = True

    def _take_events(self) -> None:
        while self._events:
            self.step(self._events.popleft())

    # The inbox of the executor.

    def offer(self, event: NodeEvent | RetentionDue) -> None:
        if isinstance(event, RetentionDue):
            self._retention_is_due = True
        else:
            self._events.append(_raft_event(event))

    def offer_in_turn(self, address: bytes, offer: Callable[[], None]) -> None:
        raise AssertionError("raft decodes no body")

    def resume(self, next_event: NodeEvent | None) -> None:
        if next_event is not None:
            self._events.appendleft(_raft_event(next_event))

    def guarded(self, action: Callable[[], None]) -> None:
        action()

    def fail(self, error: BaseException) -> None:
        raise error

    def end(self) -> None:
        self.ended = True

    # Its log lines: `watch` has seen them.

    def notice(self, notice: Notice) -> None:
        pass

    def request_failed(self, failure: RequestFailed) -> None:
        raise AssertionError(failure.text)

    def refusal_noted(self, refusal: NotedRefusal) -> None:
        raise AssertionError(refusal.text)

    def audited(self, entry: AuditEntry) -> None:
        raise AssertionError(entry)

    def authorizer_lines(self, effect: AuthorizerLines) -> None:
        raise AssertionError(effect)


def _raft_event(event: NodeEvent) -> RaftEvent:
    not_its_own = ClientRequest | UndecodedRequest | BodyRefused | LogRead | SnapshotRead | TurnTaken
    assert not isinstance(event, not_its_own)
    return event
