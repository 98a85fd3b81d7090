"""Commands for transcripts about one raft node, and effects as lines of text."""

from __future__ import annotations

import random
from typing import Any, assert_never

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
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import (
    DeadlineReached,
    LogFlushed,
    LogStartChanged,
    RaftEvent,
    RequestCancelled,
    RequestReceived,
    ResignRequested,
    ShutdownRequested,
    SnapshotCreated,
    Started,
)
from kraftctl.raft.log_state import SnapshotInfo
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode, VoterSet, static_voter_set
from kraftctl_protocol.control_record import decode_control_key, decode_control_value
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import encode_batch, read_batches
from tests.support.simulator.raft_disk import RaftDisk
from tests.support.wire.raft_requests import REQUESTS

LISTENER = "CONTROLLER"
CLUSTER_ID = "cluster"
WALL_MS_AT_START = 1_000_000


def directory_id(node_id: int, generation: int = 0) -> bytes:
    return bytes([100 + generation]) * 12 + node_id.to_bytes(4, "big")


def endpoint(node_id: int) -> tuple[str, int]:
    return (f"host-{node_id}", 9093)


def voter_node(node_id: int) -> VoterNode:
    return VoterNode(ReplicaKey(node_id, directory_id(node_id)), {LISTENER: endpoint(node_id)}, 0, 1)


class RaftTranscript:
    """One node, its disk and its clock. Effects are carried out immediately; flushes end on command only."""

    def __init__(self) -> None:
        self.disk = RaftDisk()
        self.node: RaftNode | None = None
        self.now_ms = 0
        self.arguments: dict[str, str] = {}
        self.notices = False

    def run(self, command: str) -> str:
        verb, *words = command.split()
        arguments = dict(word.split("=", 1) for word in words if "=" in word)
        positional = [word for word in words if "=" not in word]
        if verb in REQUESTS:
            return self._request(verb, arguments)
        method = getattr(self, "_" + verb.replace("-", "_"))
        return str(method(*positional, **{key.replace("-", "_"): value for key, value in arguments.items()}))

    # The node and its disk

    def _log(self, *batches: str) -> str:
        """`log 1:0-2 1:3-9 2:10-10`: epoch:base-last of batches that are on disk already."""
        for batch in batches:
            epoch, _, offsets = batch.partition(":")
            base, _, last = offsets.partition("-")
            count = int(last) - int(base) + 1
            data = encode_batch(int(base), int(epoch), 0, [b"x"] * count)
            self.disk.batches.append(AppendBatch(int(base), int(last), int(epoch), data, False))
        self.disk.flushed_offset = self.disk.end_offset
        return ""

    def _on_disk(self, *snapshots: str, start: str = "0") -> str:
        """`on-disk start=100 100-3`: snapshot ids (each of 1000 bytes) and the log start."""
        for snapshot in snapshots:
            self.disk.snapshots.append(SnapshotInfo(_snapshot_id(snapshot), 1000))
        self.disk.start_offset = int(start)
        return ""

    def _quorum_state(self, **state: str) -> str:
        voted = state.get("voted")
        self.disk.quorum_state = ElectionState(
            epoch=int(state["epoch"]),
            leader_id=int(state.get("leader", -1)),
            voted_id=-1 if voted is None else int(voted),
            voted_directory_id=bytes(16) if voted is None else directory_id(int(voted)),
        )
        return ""

    def _node(self, **arguments: str) -> str:
        """`node id=1 voters=1,2,3 kraft-version=1`; kraft.version 1 finds its voters in a 0-0 checkpoint."""
        self.arguments = arguments
        voters = [int(voter_id) for voter_id in arguments["voters"].split(",")]
        if arguments["kraft_version"] == "1":
            self.disk.bootstrap_voters = VoterSet([voter_node(voter_id) for voter_id in voters])
            self.disk.snapshots.insert(0, SnapshotInfo(OffsetAndEpoch(0, 0), 241))
        return self._boot()

    def _boot(self) -> str:
        node_id = int(self.arguments["id"])
        host_port = endpoint(node_id)
        if "port" in self.arguments:
            host_port = (host_port[0], int(self.arguments["port"]))
        static = {} if self.disk.bootstrap_voters is not None else self._static_voters()
        voters, versions = self.disk.histories()
        self.node = RaftNode(
            node_id=node_id,
            directory_id=directory_id(node_id),
            cluster_id=CLUSTER_ID,
            endpoints={LISTENER: host_port, "OTHER": ("other", 1)},
            config=RaftConfig(),
            rng=random.Random(node_id),
            log=self.disk.log_state(),
            quorum_state=self.disk.quorum_state,
            static_voters=static_voter_set(LISTENER, static),
            voter_history=voters,
            kraft_version_history=versions,
        )
        return ""

    def _static_voters(self) -> dict[int, tuple[str, int]]:
        return {int(voter_id): endpoint(int(voter_id)) for voter_id in self.arguments["voters"].split(",")}

    def _crash(self, **arguments: str) -> str:
        """Lose what was not flushed and start a new process on the rest."""
        self.arguments.update(arguments)
        self.disk.crash()
        return self._boot()

    # Events

    def _start(self) -> str:
        return self._step(Started())

    def _append(self, count: str) -> str:
        assert self.node is not None
        base_offset, effects = self.node.append([b"record"] * int(count), self.now_ms, self._wall_ms())
        return f"base offset {base_offset}\n" + self._carry_out(effects)

    def _flushed(self, end_offset: str) -> str:
        self.disk.flush(FlushLog(int(end_offset)))
        return self._step(LogFlushed(int(end_offset)))

    def _sleep(self, duration_ms: str) -> str:
        """Let time pass, deadline by deadline."""
        assert self.node is not None
        until_ms = self.now_ms + int(duration_ms)
        lines: list[str] = []
        while True:
            deadline_ms = self.node.next_deadline_ms
            if deadline_ms is None or deadline_ms > until_ms:
                break
            self.now_ms = max(self.now_ms, deadline_ms)
            printed = self._step(DeadlineReached())
            lines.append(f"after {self.now_ms} ms" + (f"\n{printed}" if printed else ""))
        self.now_ms = until_ms
        return "\n".join(lines)

    def _cancel(self, request_id: str) -> str:
        return self._step(RequestCancelled(int(request_id)))

    def _resign(self, epoch: str) -> str:
        return self._step(ResignRequested(int(epoch)))

    def _shutdown(self) -> str:
        return self._step(ShutdownRequested())

    def _snapshot(self, snapshot: str) -> str:
        self.disk.snapshots.append(SnapshotInfo(_snapshot_id(snapshot), 1000))
        return self._step(SnapshotCreated(_snapshot_id(snapshot), 1000))

    def _log_start(self, offset: str) -> str:
        self.disk.start_offset = int(offset)
        return self._step(LogStartChanged(int(offset)))

    def _state(self) -> str:
        assert self.node is not None
        node = self.node
        return (
            f"{node.state_name} epoch={node.epoch} leader={node.leader_id} hw={node.high_watermark} "
            f"end={node.end_offset} voters={node.voter_set.voter_ids()} deadline={node.next_deadline_ms}"
        )

    def _show_notices(self) -> str:
        self.notices = True
        return ""

    def _request(self, verb: str, arguments: dict[str, str]) -> str:
        request, version = REQUESTS[verb](arguments)
        request_id = int(arguments.get("request", 1))
        listener = arguments.get("listener", LISTENER)
        # What is not on the wire in this version must not decide anything.
        decoded = type(request).decode(request.encode(version), version)
        return self._step(RequestReceived(request_id, listener, type(request).API_KEY, version, decoded))

    def _step(self, event: RaftEvent) -> str:
        assert self.node is not None
        effects = self.node.step(event, self.now_ms, self._wall_ms())
        return self._carry_out(effects)

    def _wall_ms(self) -> int:
        return WALL_MS_AT_START + self.now_ms

    def _carry_out(self, effects: list[RaftEffect]) -> str:
        lines: list[str] = []
        for effect in effects:
            self.disk.apply(effect)
            if not isinstance(effect, Notice) or self.notices:
                lines.append(self._line(effect))
        return "\n".join(lines)

    def _line(self, effect: RaftEffect) -> str:
        if isinstance(effect, RespondFetch):
            batches = self.disk.read(effect.read_offset, effect.end_offset, effect.max_bytes)
            offsets = " ".join(f"{batch.base_offset}-{batch.last_offset}" for batch in batches)
            return f"respond {effect.request_id} {render(effect.response)}\n  records {offsets}"
        return effect_line(effect)


def effect_line(effect: RaftEffect) -> str:
    match effect:
        case WriteQuorumState():
            state = effect.state
            voted = "" if state.voted_id < 0 else f" voted={state.voted_id}"
            election = f"epoch={state.epoch} leader={state.leader_id}{voted}"
            return f"write quorum-state v{state.data_version} {election}"
        case AppendBatch():
            text = f"append {effect.base_offset}-{effect.last_offset} epoch={effect.epoch}"
            return text + (_control_records(effect.batch) if effect.is_control else "")
        case FlushLog():
            return f"flush {effect.end_offset}"
        case TruncateLog():
            return f"truncate {effect.end_offset}"
        case SaveSnapshotSlice():
            return f"save {effect.position}+{len(effect.data)} of {effect.snapshot_id}"
        case FinishSnapshot():
            return f"finish {effect.snapshot_id}"
        case StartOver():
            return f"start over at {effect.snapshot_id}"
        case Respond():
            return f"respond {effect.request_id} {render(effect.response)}"
        case RespondFetch():
            return (
                f"respond {effect.request_id} {render(effect.response)}\n"
                f"  records {effect.read_offset}..{effect.end_offset} up to {effect.max_bytes} bytes"
            )
        case RespondFetchSnapshot():
            return (
                f"respond {effect.request_id} {render(effect.response)}\n"
                f"  bytes {effect.position}+{effect.size_bytes} of {effect.snapshot_id}"
            )
        case NoteRecovered():
            return "note recovered"
        case Halt():
            return f"halt: {effect.text}"
        case HighWatermarkUpdated():
            return f"high watermark {effect.offset}"
        case BecameLeader():
            return f"became leader of {effect.epoch} at {effect.epoch_start_offset}"
        case LeadershipLost():
            return f"lost leadership of {effect.epoch}"
        case LeaderChanged():
            return f"leader of {effect.epoch} is {effect.leader_id}"
        case Notice():
            return f"{effect.level} {effect.text}"
        case SendRequest():
            return f"send {effect.send_id} to {effect.destination_id}@{effect.host}: {render(effect.request)}"
        case _:
            assert_never(effect)


def render(message: Message) -> str:
    """Fields that differ from their defaults, on one line."""
    return f"{type(message).__name__}({_render_fields(message)})"


def _render_fields(message: Message) -> str:
    parts = []
    for field in type(message).FIELDS:
        value = getattr(message, field.name)
        if value == getattr(type(message)(), field.name) or value in (b"", []):
            continue
        parts.append(f"{field.name}={_render_value(field.name, value)}")
    return " ".join(parts)


def _render_value(name: str, value: Any) -> str:
    if name == "error_code":
        return Errors(value).name
    if isinstance(value, Message):
        return f"({_render_fields(value)})"
    if isinstance(value, list):
        return "[" + ", ".join(_render_value("", item) for item in value) + "]"
    if isinstance(value, bytes):
        return f"{value[0]}..{value[-1]}" if len(value) == 16 else f"{len(value)} bytes"
    return str(value)


def _control_records(batch: bytes) -> str:
    return "".join(
        f"\n  {render(decode_control_value(decode_control_key(record.key), record.value))}"
        for record in read_batches(batch)[0].records
    )


def _snapshot_id(text: str) -> OffsetAndEpoch:
    offset, _, epoch = text.partition("-")
    return OffsetAndEpoch(int(offset), int(epoch))
