"""A simulated machine that runs a controller: one process after the other, on one directory.

All is as in production but what nodes use: files, threads, clocks and the wire are simulated.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.audit.audit_trail import COMMITTED, NO_OFFSET, AuditEntry
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.noted_refusal import NotedRefusal
from kraftctl.node.events import AuthorizerLines, NodeEffect, RequestFailed
from kraftctl.node.long_work import SLICES
from kraftctl.node.request_outcomes import Answer, Close
from kraftctl.raft import effects, events
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.server.controller_server import build_node, open_partition
from kraftctl.server.loop.client_requests import ReceivedRequest, client_event, receive_request
from kraftctl.server.loop.connected_client import ConnectedClient
from kraftctl.server.loop.controller_network import ControllerNetwork
from kraftctl.server.loop.effect_executor import EffectExecutor
from kraftctl.server.loop.node_loop import NodeLoop
from kraftctl.server.loop.turn_probe import TurnProbe
from kraftctl.server.process.snapshot_downloads import SnapshotDownloads
from kraftctl.storage.errors import StorageError
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.primitives import EncodeError
from kraftctl_protocol.principal import ANONYMOUS, KafkaPrincipal
from tests.support.file_states import Aftermath
from tests.support.simulator.checks.checks import Checks
from tests.support.simulator.checks.early_election_checks import EarlyElectionChecks
from tests.support.simulator.checks.signs_of_life import SignsOfLife
from tests.support.simulator.cluster.clocks import SimulatedClock
from tests.support.simulator.cluster.lifetime import Lifetime
from tests.support.simulator.cluster.peers import SimulatedPeers
from tests.support.simulator.cluster.small_turns import FEW, SmallTurns
from tests.support.simulator.cluster.threads import SimulatedThreads
from tests.support.simulator.cluster.watching import WatchedExecutor, WatchedNode
from tests.support.simulator.cluster.wire import Asker, Exchange, Server, Wire
from tests.support.simulator.coverage import count_response
from tests.support.simulator.disks.disk import SimulatedDisk
from tests.support.simulator.disks.disks import DiskSpeed, fast_disk
from tests.support.simulator.disks.storage_call import watch_locks
from tests.support.turns import in_turn

NO_REQUEST = -1
LOST_POWER = "lost power"
CLIENT_ADDRESS = b"\x7f\x00\x00\x01"

AFTERMATHS = tuple(Aftermath)

silent_logger = logging.getLogger("tests.simulator.silent")
silent_logger.disabled = True


class ControllerProcess:
    """`start` it, then `kill` it, let it `lose_power`, `stop` it; or it fails. `on_failure` learns why.

    `versions_max` limits the versions of APIs, as an older release would.
    """

    def __init__(
        self,
        *,
        node_id: int,
        config: ControllerConfig,
        disk: SimulatedDisk,
        wire: Wire,
        servers: dict[tuple[str, int], Server],
        checks: Checks,
        rng: random.Random,
        counts: Counter[str],
    ) -> None:
        self.node_id = node_id
        self.place = node_id
        self.config = config
        self.disk = disk
        self.wire = wire
        self.rng = rng
        self.counts = counts
        self.speed: DiskSpeed = fast_disk
        self.clock_percent = 100
        self.wall_ahead_ms = 0
        self.versions_max: dict[int, int] = {}
        self.turns_seed = 0
        self.turn_units: tuple[int, ...] = FEW
        self.turn_us_max = 0
        """How long it takes at most until a turn that was asked for comes."""
        self.never_loses_power = False
        self.trace: list[str] | None = None
        """If not None: the lines of everything that happens to it, and all that it does."""
        self.lifetime: Lifetime | None = None
        self.life = 0
        self.why_down = "it was not started yet"
        self.notices: list[str] = []
        self.audit_entries: list[AuditEntry] = []
        self.authorizer_texts: list[str] = []
        self.authorizer_levels: list[int] = []
        self.authorizer_left_out_count = 0
        self.notices_debug = False
        """Whether `notices` has those of level DEBUG, too."""
        self.contains_failures = False
        """Whether requests may fail as docs/adr/0005 says: then `notices` has why."""
        self.on_failure: Callable[[ControllerProcess, BaseException], None] = _raise
        self.on_election: Callable[[], None] = lambda: None
        """Called when it writes that it leads."""
        self.on_effect: Callable[[ControllerProcess, NodeEffect], None] | None = None
        """If not None: called before each effect is carried out."""
        self.on_closed: Callable[[], None] | None = None
        """Called once, after it has stopped or failed."""
        self.forge: Callable[[Message], None] | None = None
        """If not None: changes what other controllers answer, before this one sees it."""
        self._holds_flushes = False
        self._disk_faults_before = 0
        self._servers = servers
        self.checks = checks
        self._listener = config.controller_listener_names[0]

    @property
    def is_running(self) -> bool:
        return self.lifetime is not None

    @property
    def has_power(self) -> bool:
        """Power is back when somebody tries to start it."""
        return self.lifetime is not None or self.why_down != LOST_POWER

    def start(self) -> None:
        """A new process on the present directory. Raises StorageError or OSError when it cannot start."""
        assert self.lifetime is None
        self.life += 1
        self._disk_faults_before = self.disk_faults_count
        lifetime = Lifetime(self.wire.time)
        self.clock = SimulatedClock(
            self.wire.time,
            percent=self.clock_percent,
            offset_us=self.rng.randrange(1 << 40),
            wall_ahead_ms=self.wall_ahead_ms,
        )
        meta = read_meta_properties(self.disk.root)
        assert meta is not None
        assert meta.directory_id is not None
        self.key = ReplicaKey(self.node_id, meta.directory_id)
        self.partition: MetadataPartition = open_partition(self.config, meta, self.clock.now_ms)
        watch_locks(self.partition, self.disk)
        node_rng = random.Random(self.rng.getrandbits(64))
        self.node = build_node(self.config, meta, self.partition, {}, node_rng, "localhost")
        self.raft: RaftNode = self.node.raft
        self.controller: QuorumController = self.node.controller
        self._build_loop(lifetime)
        self._stopping = False
        self._requests: dict[int, Asker] = {}
        self.lifetime = lifetime
        self.note(f"starts for the {self.life}. time")
        self.checks.started(self)
        self.loop.offer(events.Started())

    def _build_loop(self, lifetime: Lifetime) -> None:
        """As Driver does, with everything below simulated."""
        self._threads = SimulatedThreads(
            lifetime, self.disk, self._duration_us, self.clock, self.rng, self.counts
        )
        if self._holds_flushes:
            self._threads.hold_flushes()
        self._peers = SimulatedPeers(
            node_id=self.node_id,
            life=lifetime,
            wire=self.wire,
            servers=self._servers,
            versions_max=self.versions_max,
            config=self.config,
            offer=self._offer_response,
            epoch=lambda: self.node.raft.epoch,
        )
        self._network = ControllerNetwork(self._peers)
        self._downloads = SnapshotDownloads(self.partition.snapshots)
        fetch_timeout_ms = self.config.controller_quorum_fetch_timeout_ms
        signs = SignsOfLife(self, fetch_timeout_ms)
        elections = EarlyElectionChecks(self, fetch_timeout_ms)
        probe = TurnProbe(silent_logger, lambda: self.wire.time.now_us / 1e6)
        self.turns = turns = SmallTurns(f"{self.turns_seed} {self.node_id} {self.life}", self.turn_units)
        # So much is done of what a request or timer begins: without this no slice would ever be cut.
        self.node._turns.units = turns.begin(SLICES)
        self._watched_node = WatchedNode(self, self.node, self.checks, signs, elections)
        self.loop = NodeLoop(
            self._watched_node,
            clock=self.clock,
            scheduler=self._threads,
            network=self._network,
            probe=probe,
            on_may_stop=self._may_stop,
            on_end=self._on_end,
        )
        self._executor = EffectExecutor(
            storage=self.partition,
            downloads=self._downloads,
            network=self._network,
            clock=self.clock,
            scheduler=self._threads,
            notices=self,
            inbox=self.loop,
            probe=probe,
            pace=turns,
            retention_bytes=self.config.metadata_max_retention_bytes,
            retention_ms=self.config.metadata_max_retention_ms,
        )
        self.watched = WatchedExecutor(self, self._executor, self.checks, signs)
        self.loop.attach(self.watched)

    def _offer_response(self, event: events.ResponseReceived) -> None:
        response = event.response
        if self.forge is not None and response is not None:
            self.forge(response)
        if isinstance(response, AddRaftVoterResponse) and response.error_code == 0:
            self.counts["voters that joined by themselves"] += 1
        elif isinstance(response, RemoveRaftVoterResponse) and response.error_code == 0:
            self.counts["lost directories that their nodes removed"] += 1
        self.loop.offer(event)

    def note(self, line: str) -> None:
        if self.trace is not None:
            self.trace.append(f"{self.wire.time.now_us / 1000:.3f} {self.node_id} {line}")

    def _duration_us(self, rng: random.Random) -> int:
        return self.speed(rng)

    def set_speed(self, speed: DiskSpeed) -> None:
        """Of the disk, from the next call on."""
        self.speed = speed

    def take_turn_later(self, take: Callable[[], None]) -> None:
        """The loop is busy for a while, unless turns take no time."""
        if self.turn_us_max == 0 or self.lifetime is None:
            take()
        else:
            self.lifetime.after(self.rng.randint(0, self.turn_us_max), take)

    def hold_flushes(self) -> None:
        """Flushes of this process and the next ones begin, and end when `end_flush` says so."""
        self._holds_flushes = True
        if self.lifetime is not None:
            self._threads.hold_flushes()

    def end_flush(self) -> bool:
        """End the flush that is held. Returns whether there was one."""
        return self.lifetime is not None and self._threads.end_held_flush()

    def release_flushes(self) -> None:
        self._holds_flushes = False
        if self.lifetime is not None:
            self._threads.release_flushes()

    @property
    def open_requests(self) -> set[tuple[int, int]]:
        """(life, request id) of those that are not answered yet."""
        return set() if self.lifetime is None else {(self.life, request_id) for request_id in self._requests}

    def refused(self, error: BaseException) -> None:
        """It could not start: what it had opened is closed."""
        self.why_down = f"refused: {error}"
        self.disk.kill(self.rng)

    def jump_wall_clock(self, by_ms: int) -> None:
        self.wall_ahead_ms += by_ms
        if self.lifetime is not None:
            self.clock.wall_ahead_ms = self.wall_ahead_ms

    @property
    def disk_faults_count(self) -> int:
        """How often its disk was full, or failed."""
        disk = self.disk
        return disk.no_space_count + disk.fsync_failures_count + disk.read_failures_count

    @property
    def disk_faults_in_life(self) -> int:
        """Those since this process, or the last one, was started."""
        return self.disk_faults_count - self._disk_faults_before

    def heal_disk(self) -> None:
        self.disk.bytes_left = self.disk.fsync_fails = self.disk.read_fails = None

    def write(self, record: Message, version: int = 0) -> None:
        """One record that the active controller decides on by itself."""
        self._write(ControllerResult.atomic_of([RecordAndVersion(record, version)]))

    def write_all(self, records: Sequence[Message]) -> None:
        """The same in one batch, in their first version."""
        self._write(ControllerResult.atomic_of([RecordAndVersion(record, 0) for record in records]))

    def _write(self, result: ControllerResult) -> None:
        assert not self.loop.is_busy(), "a node makes no step while its loop waits for the disk"
        self.node._append(self.controller.prepare(result), self.clock.now_ms(), self.clock.wall_ms())
        self.loop.offer(events.DeadlineReached())

    def make_snapshot_due(self) -> None:
        """As if as much had been written as there may be between two snapshots."""
        self.node._generator.note(1 << 40)

    # Its ends.

    def kill(self) -> None:
        """SIGKILL: what it has written is kept, and what it sent arrives."""
        self._end("killed")
        self.disk.kill(self.rng)

    def lose_power(self, aftermath: Aftermath | None = None) -> None:
        """All, some or nothing of what was not forced to the disk survives; by default that is random.

        With `never_loses_power` only the process ends.
        """
        if self.never_loses_power:
            self.kill()
            return
        self._end(LOST_POWER)
        loss = self.disk.lose_power(aftermath or self.rng.choice(AFTERMATHS), self.rng)
        self.counts["unforced bytes lost"] += loss.lost_bytes
        self.counts["writes torn"] += loss.torn_count
        self.counts["writes reordered"] += loss.reordered_count

    def _end(self, how: str) -> None:
        lifetime = self.lifetime
        assert lifetime is not None
        self.lifetime = None
        lifetime.end()
        self.why_down = how
        self._watched_node.ends()
        self.note(how)
        self.loop.end()
        self._peers.end()
        self.counts["calls ended halfway"] += self._threads.end()
        self.checks.ended(self)
        if how != LOST_POWER:
            self._reset_connections()

    def _reset_connections(self) -> None:
        """The operating system closes the connections of a process that ends, not of one that loses power."""
        exchanges = list(self._requests.values())
        self._requests.clear()
        for exchange in exchanges:
            exchange.respond(None)

    def freeze(self) -> None:
        if self.lifetime is not None:
            self.lifetime.freeze()

    @property
    def is_frozen(self) -> bool:
        return self.lifetime is not None and self.lifetime.frozen

    def resume(self) -> None:
        if self.lifetime is not None:
            self.lifetime.resume()

    def stop(self) -> None:
        """SIGTERM: resign, then end."""
        assert self.lifetime is not None
        if not self._stopping:
            self._stopping = True
            self.loop.offer(events.ShutdownRequested())
            if self.lifetime is not None:
                self.lifetime.after(STOP_US_MAX, lambda: self._close("stopped"))

    def _may_stop(self) -> None:
        if self._stopping and self.lifetime is not None:
            self.lifetime.after(0, lambda: self._close("stopped"))

    def _on_end(self, error: BaseException | None) -> None:
        """The loop has ended; a failure may still be on the stack of what caused it."""
        if error is None:
            return
        if not isinstance(error, StorageError | OSError):
            raise error
        if self.lifetime is None:
            return
        self.on_failure(self, error)
        self.lifetime.after(0, lambda: self._close(f"failed: {error}"))

    def _close(self, how: str) -> None:
        """As the server ends: calls that were begun end, then the files are closed."""
        if self.lifetime is None:
            return
        self._executor.stop()
        self._threads.finish()
        self.disk.finish_all()
        self._downloads.abort()
        self._end(how)
        was_in_service = self.partition.log.is_in_service
        try:
            self.partition.close()
            if was_in_service:
                self.checks.stopped(self)
        except (StorageError, OSError) as error:
            self.why_down += f"; closing: {error}"
        self.disk.kill(self.rng)
        on_closed, self.on_closed = self.on_closed, None
        if on_closed is not None:
            on_closed()

    # Its clients.

    def receive(self, payload: bytes, exchange: Asker, principal: KafkaPrincipal = ANONYMOUS) -> int:
        """As a connection of `principal` does: what cannot be decoded, or is not served, closes it."""
        received = receive_request(payload)
        if isinstance(received, str):
            self.counts["connections closed"] += 1
            exchange.respond(None)
            return NO_REQUEST
        request_id = self._network.accept(
            lambda response: self._respond(request_id, received, exchange, response),
            decoded_bytes=received.decoded_bytes,
        )
        self._requests[request_id] = exchange
        connection = exchange.connection_id if isinstance(exchange, Exchange) else 0
        client = ConnectedClient(self._listener, "", CLIENT_ADDRESS, "", principal, connection)
        context = received.context(client, received_ms=self.clock.now_ms())
        event = client_event(request_id, context, received.take_content())
        offer = partial(self.loop.offer, event)
        in_turn(self.loop, payload, CLIENT_ADDRESS, lambda: self._network.awaits(request_id) and offer())
        return request_id

    def _respond(self, request_id: int, received: ReceivedRequest, exchange: Asker, response: Answer) -> None:
        self._requests.pop(request_id, None)
        if isinstance(response, Close):
            self.counts["connections closed"] += 1
            exchange.respond(None)
            return
        count_response(self.counts, response)
        if self.versions_max and isinstance(response, ApiVersionsResponse):
            for row in response.api_keys:
                row.max_version = min(row.max_version, self.versions_max.get(row.api_key, row.max_version))
        try:
            payload: bytes | None = received.encode_response(response)
        except EncodeError as error:
            # It may repeat a name that is too long for its field.
            self.failed(f"Encoding {response.NAME}: {error}")
            payload = None
        exchange.respond(payload)

    def cancel(self, lifetime: Lifetime, request_id: int) -> None:
        if lifetime is not self.lifetime:
            return

        def closed() -> None:
            if self._network.cancel(request_id):
                self._requests.pop(request_id, None)
                self.loop.offer(events.RequestCancelled(request_id))

        lifetime.run(closed)

    # Its log lines.

    def notice(self, notice: effects.Notice) -> None:
        if notice.level != effects.DEBUG or self.notices_debug:
            self.notices.append(notice.text)

    def request_failed(self, failure: RequestFailed) -> None:
        self.failed(failure.text)

    def refusal_noted(self, refusal: NotedRefusal) -> None:
        self.notices.append(refusal.text)

    def audited(self, entry: AuditEntry) -> None:
        if entry.outcome == COMMITTED:
            what = f"AuditedIsCommitted: {self.node_id}: {entry.context.api.name} at {entry.last_offset}"
            assert NO_OFFSET < entry.first_offset <= entry.last_offset < self.raft.high_watermark, what
            assert self.raft.epoch_at(entry.last_offset) in (entry.leader_epoch, None), what
        self.audit_entries.append(entry)
        self.counts["lines of the audit log"] += 1

    def authorizer_lines(self, effect: AuthorizerLines) -> None:
        self.authorizer_texts += [line.text for line in effect.lines]
        self.authorizer_levels += [line.level for line in effect.lines]
        self.authorizer_left_out_count += effect.left_out_count

    def failed(self, text: str) -> None:
        """One request was not handled as it should be."""
        if not self.contains_failures:
            raise AssertionError(f"NoRequestFails: {self.node_id}: {text}")
        self.notices.append(text)


STOP_US_MAX = 5_000_000  # of a leader that waits until all voters know that it has resigned


def _raise(process: ControllerProcess, error: BaseException) -> None:
    raise error
