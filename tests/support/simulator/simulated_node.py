"""A whole controller node on a disk in memory: no loop, no socket, no clock, and power failures on demand."""

from __future__ import annotations

import random
from typing import TypeVar, assert_never

from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.request_context import RequestContext
from kraftctl.metadata import features
from kraftctl.node.controller_node import ControllerNode
from kraftctl.node.events import (
    ClientRequest,
    CloseConnection,
    LogRead,
    NodeEffect,
    NodeEvent,
    ReadLog,
    ReadSnapshot,
    RequestFailed,
    SnapshotRead,
    TakeTurn,
    TurnTaken,
    WriteSnapshot,
)
from kraftctl.node.snapshot_generation import SnapshotPolicy
from kraftctl.raft import effects, events
from kraftctl.raft.log_state import SnapshotInfo
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.voter_set import static_voter_set
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.principal import ANONYMOUS
from kraftctl_protocol.record_batch import RecordBatch, read_batches
from tests.support.active_controller import BASE_PROPERTIES, CLUSTER_ID, NODE_ID, bootstrap_records
from tests.support.simulator.raft_disk import RaftDisk

WALL_MS = 1_700_000_000_000
VOTERS = {NODE_ID: ("localhost", 9093)}
PROPERTIES = {key: value for key, value in BASE_PROPERTIES.items() if "bootstrap" not in key} | {
    "controller.quorum.voters": f"{NODE_ID}@localhost:9093"
}

M = TypeVar("M", bound=Message)


class HaltedError(Exception):
    """The node has halted with this text."""


class SimulatedNode:
    """Effects are carried out immediately, except flushes: `flush` ends one, `crash` is a power failure.

    `answers` maps request id to response, in the order they were given; `closed` has the requests whose
    connection was to be closed instead.
    """

    def __init__(
        self,
        *,
        seed: int = 1,
        snapshot_bytes: int = 1 << 40,
        node_id: int = NODE_ID,
        voters: dict[int, tuple[str, int]] = VOTERS,
        metadata_version: int = features.LATEST_PRODUCTION,
        **properties: str,
    ) -> None:
        self.node_id = node_id
        self.voters = voters
        own = {
            "node.id": str(node_id),
            "listeners": "CONTROLLER://{}:{}".format(*voters[node_id]),
            "controller.quorum.voters": ",".join(
                f"{id_}@{host}:{port}" for id_, (host, port) in voters.items()
            ),
        }
        overrides = {name.replace("_", "."): value for name, value in properties.items()}
        self.config = ControllerConfig(PROPERTIES | own | overrides)
        self.sent: list[effects.SendRequest] = []
        self.disk = RaftDisk()
        self.snapshot_files: dict[OffsetAndEpoch, list[RecordBatch]] = {}
        self.now_ms = 1_000_000
        self.answers: dict[int, Message] = {}
        self.closed: set[int] = set()
        self.notices: list[str] = []
        self._seed = seed
        self._bootstrap_records = bootstrap_records(metadata_version)
        self._snapshot_bytes = snapshot_bytes
        self._requests = 0
        self.start()

    def start(self) -> None:
        """Build the node from what is on the disk, and start it."""
        self._seed += 1
        rng = random.Random(self._seed)
        voters, versions = self.disk.histories()
        endpoints = {"CONTROLLER": self.voters[self.node_id]}
        raft = RaftNode(
            node_id=self.node_id,
            directory_id=(77 + self.node_id).to_bytes(16, "big"),
            cluster_id=CLUSTER_ID,
            endpoints=endpoints,
            config=RaftConfig(),
            rng=rng,
            log=self.disk.log_state(),
            quorum_state=self.disk.quorum_state,
            static_voters=static_voter_set("CONTROLLER", self.voters),
            voter_history=voters,
            kraft_version_history=versions,
        )
        self.controller = QuorumController(self.config, CLUSTER_ID, rng, self._bootstrap_records, endpoints)
        policy = SnapshotPolicy(self._snapshot_bytes, 0)
        self.node = ControllerNode(raft=raft, controller=self.controller, snapshots=policy)
        self.raft = raft
        self._flush: effects.FlushLog | None = None
        self._written: list[effects.AppendBatch] = []
        self.effects_left: int | None = None
        self._turns: list[NodeEvent] = []
        self.offer(events.Started())

    def crash(self) -> None:
        """The power fails: what was not flushed is lost, and pending requests get no answer."""
        self.disk.crash()
        self.answers.clear()

    def crash_with_tail(self, surviving: int) -> None:
        """The same, but `surviving` unflushed batches are on the disk, and sent answers are kept."""
        self.disk.crash(surviving)
        self.disk.recover()

    @property
    def has_ended(self) -> bool:
        """Whether the process ended between two effects, as `effects_left` said."""
        return self.effects_left == 0

    @property
    def is_flushing(self) -> bool:
        return self._flush is not None

    def flush(self) -> bool:
        """End the running fsync; False when there is none."""
        flush = self._flush
        if flush is None:
            return False
        self._flush = None
        self.disk.finish_flush(self._written)
        self.offer(events.LogFlushed(flush.end_offset))
        return True

    def settle(self) -> None:
        """Flush and read until nothing is left to do."""
        while self._turns or self._flush is not None:
            self.take_turns()
            self.flush()

    def take_turns(self) -> None:
        """Deliver the events that wait for a turn of the loop, until there are none."""
        while self._turns:
            self.offer(self._turns.pop(0))

    def send(self, request: Message, version: int | None = None) -> int:
        """The id under which the answer will appear."""
        self._requests += 1
        context = RequestContext(
            api=API_TABLE[request.API_KEY],
            version=request.HIGHEST_VERSION if version is None else version,
            client_id="test",
            principal=ANONYMOUS,
            listener="CONTROLLER",
            client_address=b"\x7f\x00\x00\x01",
        )
        self.offer(ClientRequest(self._requests, context, request))
        return self._requests

    def cancel(self, request_id: int) -> None:
        """The connection of this request is gone."""
        self.offer(events.RequestCancelled(request_id))

    def ask(self, request: Message, response_type: type[M], version: int | None = None) -> M:
        """Send, settle, and return the answer."""
        request_id = self.send(request, version)
        self.settle()
        response = self.answers[request_id]
        assert isinstance(response, response_type)
        return response

    def pass_time(self, milliseconds: int) -> None:
        """Reach one deadline after the other, and settle after each."""
        end_ms = self.now_ms + milliseconds
        while (deadline := self.node.next_deadline_ms) is not None and deadline <= end_ms:
            self.now_ms = max(self.now_ms, deadline)
            self.deadline_reached()
            self.settle()
        self.now_ms = end_ms

    def deadline_reached(self) -> None:
        """The timer fires; disk and loop do not run."""
        self.offer(events.DeadlineReached())

    def offer(self, event: NodeEvent) -> None:
        if self.has_ended:
            return
        for effect in self.node.step(event, self.now_ms, WALL_MS + self.now_ms):
            self._execute(effect)
            if self.effects_left is not None:
                self.effects_left -= 1
                if self.has_ended:
                    return

    def _execute(self, effect: NodeEffect) -> None:
        match effect:
            case effects.RespondFetch():
                found = self.disk.read(effect.read_offset, effect.end_offset, effect.max_bytes)
                records = b"".join(entry.batch for entry in found)
                self.answers[effect.request_id] = effect.response_with(records)
            case effects.Respond() | effects.RespondFetchSnapshot():
                assert effect.request_id not in self.answers, "a request is answered once"
                self.answers[effect.request_id] = effect.response
            case RequestFailed():
                self.notices.append(effect.text)
            case CloseConnection():
                self.closed.add(effect.request_id)
            case effects.FlushLog():
                assert self._flush is None, "one flush at a time"
                self._flush = effect
                self._written = list(self.disk.batches)
            case effects.Notice():
                self.notices.append(effect.text)
            case ReadLog():
                # Or other records may be committed in their place before the answer is taken in.
                assert effect.end_offset <= self.raft.high_watermark, "what is not committed may be truncated"
                found = self.disk.read(effect.offset, effect.end_offset, effect.max_bytes)
                batches = [batch for entry in found for batch in read_batches(entry.batch)]
                self._turns.append(LogRead(batches))
            case ReadSnapshot():
                self._turns.append(SnapshotRead(effect.snapshot_id, self.snapshot_files[effect.snapshot_id]))
            case TakeTurn():
                self._turns.append(TurnTaken())
            case WriteSnapshot():
                self._write_snapshot(effect)
            case effects.Halt():
                raise HaltedError(effect.text)
            case effects.SendRequest():
                assert len(self.voters) > 1, "a single voter has no peers"
                self.sent.append(effect)
            case (
                effects.AppendBatch()
                | effects.WriteQuorumState()
                | effects.TruncateLog()
                | effects.SaveSnapshotSlice()
                | effects.FinishSnapshot()
                | effects.StartOver()
                | effects.NoteRecovered()
            ):
                self.disk.apply(effect)
            case _:
                assert_never(effect)

    def _write_snapshot(self, effect: WriteSnapshot) -> None:
        data = b"".join(effect.batches)
        self.snapshot_files[effect.snapshot_id] = list(read_batches(data))
        self.disk.snapshots.append(SnapshotInfo(effect.snapshot_id, len(data)))
        self._turns.append(events.SnapshotCreated(effect.snapshot_id, len(data)))
