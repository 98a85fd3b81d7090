"""What a node's loop and its effects need: a disk, a network, a clock, threads, a log and the node's inbox.

The controller runs on files, sockets and threads of the operating system; a simulation may run the same
`NodeLoop` and `EffectExecutor` on simulated ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol, TypeVar

from kraftctl.controller.audit.audit_trail import AuditEntry
from kraftctl.controller.results.noted_refusal import NotedRefusal
from kraftctl.node.events import (
    AuthorizerLines,
    LogLevelsChanged,
    NodeConfigsChanged,
    NodeEffect,
    NodeEvent,
    RequestFailed,
    SnapshotRead,
    TakeTurn,
)
from kraftctl.node.request_outcomes import Answer
from kraftctl.raft.effects import Notice, SendRequest
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import SnapshotDownloaded
from kraftctl.raft.log_state import SnapshotInfo
from kraftctl.server.process.finished_call import Finished
from kraftctl.storage.retention import Cleaned
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

T = TypeVar("T")


class RetentionDue:
    """Internal to the rim, no event of the node's: there is a new snapshot, so older ones may be deleted."""


class Log(Protocol):
    """The metadata log. Records that were appended recently are in memory."""

    @property
    def start_offset(self) -> int: ...

    def append(self, batches: bytes) -> int:
        """The new end offset. Does not wait for the disk."""
        ...

    def read_recent(self, offset: int, max_bytes: int, end_offset: int) -> bytes | None:
        """Does not wait for the disk: None when the records have to be read from it."""
        ...

    def read(self, offset: int, max_bytes: int, end_offset: int) -> bytes: ...

    def file_of(self, offset: int) -> str:
        """The name of the file that holds `offset`."""
        ...


class Storage(Protocol):
    """The metadata partition. Every method waits for the disk; what it reports is durable."""

    @property
    def log(self) -> Log: ...

    def flush(self) -> int: ...

    def write_quorum_state(self, state: ElectionState) -> None: ...

    def note_committed(self, end_offset: int) -> None:
        """Does not wait for the disk: the next flush writes it."""
        ...

    def halt(self, reason: str, wall_ms: int) -> None:
        """Always raises, and each later start, too."""
        ...

    def note_recovered(self) -> None: ...

    def truncate_log(self, end_offset: int) -> None: ...

    def start_over_at(self, snapshot_id: OffsetAndEpoch) -> None: ...

    def read_snapshot_part(
        self, snapshot_id: OffsetAndEpoch, position: int, bytes_max: int
    ) -> SnapshotRead: ...

    def read_snapshot_slice(self, snapshot_id: OffsetAndEpoch, position: int, size_bytes: int) -> bytes: ...

    def write_snapshot_part(
        self, snapshot_id: OffsetAndEpoch, batches: list[bytes], position: int
    ) -> None: ...

    def write_snapshot(
        self, snapshot_id: OffsetAndEpoch, batches: list[bytes], position: int
    ) -> SnapshotInfo: ...

    def abandon_snapshot(self) -> None: ...

    def clean(
        self,
        wall_ms: int,
        retention_bytes: int,
        retention_ms: int,
        held: Collection[OffsetAndEpoch],
    ) -> Cleaned | None: ...


class Downloads(Protocol):
    """The one snapshot that is being fetched from the leader. Every method waits for the disk."""

    def save(
        self, snapshot_id: OffsetAndEpoch, position: int, data: bytes, size_bytes: int
    ) -> SnapshotDownloaded | None: ...

    def finish(self, snapshot_id: OffsetAndEpoch) -> SnapshotDownloaded: ...


class Network(Protocol):
    """The clients whose requests the node has to answer, and the other controllers."""

    def awaits(self, request_id: int) -> bool:
        """Whether the client still waits for this response."""
        ...

    def address_of(self, request_id: int) -> bytes:
        """The address of the client that waits: addresses take turns when files are read."""
        ...

    def is_voter(self, request_id: int) -> bool:
        """Whether the client that waits says that it is a voter."""
        ...

    def has_room(self) -> bool:
        """Whether clients have read most of their responses, so that more may be read from files."""
        ...

    def respond(self, request_id: int, answer: Answer) -> None:
        """Send the response, or close the connection. Does nothing when the client no longer waits."""
        ...

    def send(self, effect: SendRequest) -> None:
        """Its response, or the lack of one, becomes a `ResponseReceived`."""
        ...

    def cancel_all(self) -> None:
        """No client is answered any more."""
        ...

    @property
    def decoded_bytes(self) -> int:
        """The memory of decoded requests whose clients still wait."""
        ...

    def note_decoded(self, request_id: int, size_bytes: int) -> None:
        """Notes the memory that the body of an unanswered request takes."""
        ...


class Clock(Protocol):
    """Monotonic time for deadlines and to measure with, Unix time for what is written down."""

    def now_ms(self) -> int: ...

    def now_ns(self) -> int: ...

    def wall_ms(self) -> int: ...


class TimerHandle(Protocol):
    """A call that is due later."""

    def cancel(self) -> None:
        """Do not call; nothing when the call was made already."""
        ...


class Scheduler(Protocol):
    """Where calls run that wait for the disk or take long, so that the node and its connections do not.

    Calls of one thread run in the order in which they were handed over. `done` runs where the node runs.
    """

    def run_on_storage_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None: ...

    def run_on_flush_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        """Beside the storage thread, so that a vote does not wait for a flush."""
        ...

    def run_on_snapshot_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        """Beside both, so that commits do not wait while a large snapshot is written."""
        ...

    def run_on_decoding_thread(
        self, call: Callable[[Callable[[], object]], T], done: Callable[[Finished[T]], None]
    ) -> None:
        """This one computes. `call` gets what it has to call now and then, so that the node can run."""
        ...

    def call_soon(self, call: Callable[[], None]) -> None:
        """Where the node runs, after the connections had their turn."""
        ...

    def call_after_sockets(self, call: Callable[[], None]) -> None:
        """Where the node runs, once all that has reached the sockets by now was read and offered to it."""
        ...

    def call_later(self, delay_seconds: float, call: Callable[[], None]) -> TimerHandle: ...


class Pace(Protocol):
    """How much long work the node does in one turn."""

    def begin(self, work: str) -> int:
        """A turn of this kind begins now. Returns how many units it has."""
        ...

    def asked(self, effect: TakeTurn) -> None:
        """The turn before is over, if there was one, and there is more to do."""
        ...


class Settings(Protocol):
    """What changes while the process runs, other than by its node."""

    def node_configs(self, effect: NodeConfigsChanged) -> None: ...

    def log_levels(self, effect: LogLevelsChanged) -> None: ...


class NoticeLog(Protocol):
    """Where the node's lines for the log go."""

    def notice(self, notice: Notice) -> None: ...

    def request_failed(self, failure: RequestFailed) -> None:
        """Limited in rate: clients can provoke these."""
        ...

    def refusal_noted(self, refusal: NotedRefusal) -> None:
        """Limited in rate, for each kind and sender."""
        ...

    def audited(self, entry: AuditEntry) -> None:
        """Does not wait for the disk."""
        ...

    def authorizer_lines(self, effect: AuthorizerLines) -> None:
        """Denials are limited in rate, per client."""
        ...


class Inbox(Protocol):
    """The events that wait for the node, and how its processing ends."""

    @property
    def ended(self) -> bool:
        """Whether nothing is processed, carried out or answered any more."""
        ...

    def offer(self, event: NodeEvent | RetentionDue) -> None:
        """Process `event` after what is already waiting."""
        ...

    def offer_in_turn(self, address: bytes, offer: Callable[[], None]) -> None:
        """Calls `offer`, which offers a decoded request from `address`, when requests have time."""
        ...

    def resume(self, next_event: NodeEvent | None) -> None:
        """After a pause: carry out the effects that follow, then process `next_event` before all others."""
        ...

    def guarded(self, action: Callable[[], None]) -> None:
        """Run `action`; whatever it raises is a failure."""
        ...

    def fail(self, error: BaseException) -> None:
        """End with this failure."""
        ...

    def end(self) -> None:
        """End without a failure."""
        ...


class Node(Protocol):
    """`ControllerNode`, or what a test puts around it."""

    @property
    def next_deadline_ms(self) -> int | None: ...

    @property
    def may_stop(self) -> bool: ...

    def step(self, event: NodeEvent, now_ms: int, wall_ms: int) -> list[NodeEffect]: ...


class Executor(Protocol):
    """Carries out effects: `EffectExecutor`, or what a test puts around it."""

    @property
    def paused(self) -> bool:
        """Whether an effect is not done yet; `NodeLoop.resume` is called when it is."""
        ...

    @property
    def unreadable(self) -> BaseException | None:
        """Why the log cannot be read. Not None: the loop ends as soon as the node may stop."""
        ...

    def execute(self, effect: NodeEffect | RetentionDue) -> None: ...
