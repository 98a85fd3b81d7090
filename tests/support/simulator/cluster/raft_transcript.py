"""Commands for transcripts about one raft node, and what it does and answers as lines of text."""

from __future__ import annotations

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.effects import (
    Notice,
    RaftEffect,
    Respond,
    RespondFetch,
    RespondFetchSnapshot,
)
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import DeadlineReached, ResignRequested, ShutdownRequested
from kraftctl.raft.raft_node import RaftNode
from kraftctl.server.loop.snapshot_reads import READING_MS
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import encode_batch, read_batches
from tests.support.raft_names import LISTENER, directory_id
from tests.support.simulator.cluster.effect_lines import effect_line, render
from tests.support.simulator.cluster.raft_replica import WALL_MS_AT_START, RaftReplica
from tests.support.simulator.disks.files import SimulatedFiles
from tests.support.wire.raft_requests import REQUESTS

SNAPSHOT_BYTES = 1000


class RaftTranscript:
    """One replica, its clients and its clock. Flushes and retention end on command only."""

    def __init__(self) -> None:
        self.files = SimulatedFiles()
        self.replica: RaftReplica
        self._batches: list[bytes] = []
        self._election: ElectionState | None = None
        self._shows_notices = False
        self._lines: list[str] = []

    @property
    def lines(self) -> list[str]:
        """What the latest command has printed so far."""
        return self._lines

    @property
    def node(self) -> RaftNode:
        return self.replica.node

    def run(self, command: str) -> str:
        """What it prints."""
        verb, *words = command.split()
        arguments = dict(word.split("=", 1) for word in words if "=" in word)
        positional = [word for word in words if "=" not in word]
        self._lines = []
        with self.files.attach():
            if verb in REQUESTS:
                self._request(verb, arguments)
            else:
                method = getattr(self, "_" + verb.replace("-", "_"))
                method(*positional, **{key.replace("-", "_"): value for key, value in arguments.items()})
        return "\n".join(self._lines)

    # What is on the disk before the first start.

    def _log(self, *batches: str) -> None:
        """`log 1:0-2 1:3-9 2:10-10`: epoch:base-last of batches."""
        for batch in batches:
            epoch, _, offsets = batch.partition(":")
            base, _, last = offsets.partition("-")
            count = int(last) - int(base) + 1
            self._batches.append(encode_batch(int(base), int(epoch), 0, [b"x"] * count))

    def _quorum_state(self, **state: str) -> None:
        voted = state.get("voted")
        self._election = ElectionState(
            epoch=int(state["epoch"]),
            leader_id=int(state.get("leader", -1)),
            voted_id=-1 if voted is None else int(voted),
            voted_directory_id=bytes(16) if voted is None else directory_id(int(voted)),
        )

    def _node(self, **arguments: str) -> None:
        """`node id=1 voters=1,2,3 kraft-version=1`: it may have lost its first disk, `directory=other`."""
        node_id = int(arguments["id"])
        self.replica = RaftReplica(
            node_id,
            [int(voter_id) for voter_id in arguments["voters"].split(",")],
            self.files.disk(str(node_id)),
            dynamic=arguments["kraft_version"] == "1",
            watch=self._watch,
            answered=self._answered,
            generation=int(arguments.get("directory") == "other"),
        )
        partition = self.replica.partition
        for batch in self._batches:
            partition.log.append(batch)
        partition.flush()
        if self._election is not None:
            partition.write_quorum_state(self._election)
        self.replica.begin()

    # What happens.

    def _start(self) -> None:
        self.replica.start()

    def _crash(self, port: str | None = None) -> None:
        """Lose what was not flushed and start a new process on the rest."""
        if port is not None:
            self.replica.endpoint = (self.replica.endpoint[0], int(port))
        self.replica.lose_power()
        self.replica.begin()

    def _append(self, count: str) -> None:
        base_offset = self.replica.append([b"record"] * int(count))
        self._lines.insert(0, f"base offset {base_offset}")

    def _confirm(self) -> None:
        self._lines.insert(0, f"round {self.replica.confirm_leadership()}")

    def _flushed(self, end_offset: str) -> None:
        self.replica.end_flush()
        assert self.replica.forced_end_offset() == int(end_offset)

    def _sleep(self, duration_ms: str) -> None:
        """Let time pass, deadline by deadline."""
        replica = self.replica
        until_ms = replica.now_ms + int(duration_ms)
        while True:
            deadline_ms = self.node.next_deadline_ms
            if deadline_ms is None or deadline_ms > until_ms:
                break
            replica.pass_time(max(0, deadline_ms - replica.now_ms))
            self._lines.append(f"after {replica.now_ms} ms")
            replica.step(DeadlineReached())
        replica.pass_time(until_ms - replica.now_ms)

    def _cancel(self, request_id: str) -> None:
        self.replica.cancel(int(request_id))

    def _resign(self, epoch: str) -> None:
        self.replica.step(ResignRequested(int(epoch)))

    def _shutdown(self) -> None:
        self.replica.step(ShutdownRequested())

    def _snapshot(self, text: str) -> None:
        """`snapshot 10-1`: a checkpoint file of SNAPSHOT_BYTES."""
        offset, _, epoch = text.partition("-")
        snapshot_id = OffsetAndEpoch(int(offset), int(epoch))
        self.replica.write_snapshot(snapshot_id, _checkpoint(snapshot_id.epoch))

    def _log_start(self, offset: str) -> None:
        """Retention deletes what is older than the newest snapshot, which ends at `offset`, once no other is
        being fetched."""
        self.replica.pass_time(READING_MS + 1)
        self.replica.clean()
        assert self.replica.partition.log.start_offset == int(offset)

    def _request(self, verb: str, arguments: dict[str, str]) -> None:
        request, version = REQUESTS[verb](arguments)
        listener = arguments.get("listener", LISTENER)
        self.replica.request(request, version, int(arguments.get("request", 1)), listener)

    # What is printed.

    def _state(self) -> None:
        node = self.node
        self._lines.append(
            f"{node.state_name} epoch={node.epoch} leader={node.leader_id} hw={node.high_watermark} "
            f"end={node.end_offset} voters={node.voter_set.voter_ids()} deadline={node.next_deadline_ms}"
        )

    def _show_notices(self) -> None:
        self._shows_notices = True

    def _watch(self, effect: RaftEffect) -> None:
        """Answers are printed as they leave."""
        if isinstance(effect, Respond | RespondFetch | RespondFetchSnapshot):
            return
        if not isinstance(effect, Notice) or self._shows_notices:
            self._lines.append(effect_line(effect))

    def _answered(self, request_id: int, response: Message) -> None:
        self._lines.append(f"respond {request_id} {_answer_line(response)}")


def _answer_line(response: Message) -> str:
    """With the offsets of the batches in a Fetch, and the place of the bytes of a snapshot."""
    if isinstance(response, FetchResponse) and response.responses:
        (fetched,) = response.responses[0].partitions
        records, fetched.records = fetched.records, None
        line = render(response)
        fetched.records = records  # others may get the same response
        if records:
            batches = [batch.header for batch in read_batches(records)]
            offsets = " ".join(f"{header.base_offset}-{header.last_offset}" for header in batches)
            return f"{line}\n  records {offsets}"
        return line
    if isinstance(response, FetchSnapshotResponse) and response.topics:
        (slice_,) = response.topics[0].partitions
        data, slice_.unaligned_records = slice_.unaligned_records, b""
        if data:
            snapshot_id = OffsetAndEpoch(slice_.snapshot_id.end_offset, slice_.snapshot_id.epoch)
            return f"{render(response)}\n  bytes {slice_.position}+{len(data)} of {snapshot_id}"
    return render(response)


def _checkpoint(epoch: int) -> list[bytes]:
    """The batches of a snapshot of SNAPSHOT_BYTES. Its one record is none that a controller could read."""
    batches = SnapshotBatches(epoch, WALL_MS_AT_START)
    header, footer = batches.header(WALL_MS_AT_START), batches.footer()
    frame_bytes = len(encode_batch(0, epoch, 0, [bytes(SNAPSHOT_BYTES // 2)])) - SNAPSHOT_BYTES // 2
    value = bytes(SNAPSHOT_BYTES - len(header) - len(footer) - frame_bytes)
    return [header, encode_batch(1, epoch, 0, [value]), footer]
