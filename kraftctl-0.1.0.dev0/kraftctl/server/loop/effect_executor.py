"""Carries out the effects of a node, in order, each done before the next begins.

No effect waits for a disk on the thread of the node. Effects that change files run on the storage thread;
the effects and events after them wait, while connections are served. Appends do not wait for the disk, and
the end of a flush is an event. Files are read on the storage thread, too, in the order of the effects, so
nothing is truncated or deleted while it is read; nothing waits for a read.
"""

from __future__ import annotations

from functools import partial
from typing import assert_never

from kraftctl.node.events import (
    AbandonSnapshot,
    Audited,
    AuthorizerLines,
    CloseConnection,
    DecodeBody,
    LogLevelsChanged,
    LogRead,
    NodeConfigsChanged,
    NodeEffect,
    ReadLog,
    ReadSnapshot,
    RefusalNoted,
    RequestFailed,
    SnapshotRead,
    TakeTurn,
    TurnTaken,
    WriteSnapshot,
    WriteSnapshotPart,
)
from kraftctl.node.long_work import SNAPSHOT
from kraftctl.node.request_outcomes import Close
from kraftctl.raft import effects
from kraftctl.raft.effects import Respond
from kraftctl.server.loop.body_decoding import BodyDecoding
from kraftctl.server.loop.controller_network import ControllerNetwork
from kraftctl.server.loop.executor_protocols import (
    Clock,
    Downloads,
    Inbox,
    Network,
    NoticeLog,
    Pace,
    RetentionDue,
    Scheduler,
    Settings,
    Storage,
)
from kraftctl.server.loop.replica_reads import ReplicaReads
from kraftctl.server.loop.retention import Retention
from kraftctl.server.loop.snapshot_writing import SnapshotWriting
from kraftctl.server.loop.storage_calls import StorageCalls
from kraftctl.server.loop.turn_probe import TurnProbe
from kraftctl.server.process import collector
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.batch_framing import base_offset_at


class EffectExecutor:
    """Knows neither a loop nor a file nor a socket: those are behind `storage`, `network` and `scheduler`."""

    def __init__(
        self,
        *,
        storage: Storage,
        downloads: Downloads,
        network: Network,
        clock: Clock,
        scheduler: Scheduler,
        notices: NoticeLog,
        inbox: Inbox,
        probe: TurnProbe,
        pace: Pace,
        retention_bytes: int,
        retention_ms: int,
    ) -> None:
        self._storage = storage
        self._downloads = downloads
        self._network = network
        self._scheduler = scheduler
        self._notices = notices
        self._inbox = inbox
        self._pace = pace
        self._clock = clock
        self.settings: Settings | None = None
        """None: they never change."""
        self._bodies = BodyDecoding(scheduler, network, inbox)
        self._snapshot_writing = SnapshotWriting(storage, scheduler, inbox)
        self._calls = StorageCalls(scheduler, inbox, clock, probe)
        self._reads = ReplicaReads(storage, network, self._calls)
        self._retention = Retention(
            storage, self._calls, self._reads, retention_bytes=retention_bytes, retention_ms=retention_ms
        )

    @property
    def paused(self) -> bool:
        """Returns whether an effect is being stored: until then, nothing may be executed."""
        return self._calls.paused

    def oldest_wait(self, now_ns: int) -> tuple[str, float]:
        """Returns what has waited for the disk longest, and for how many seconds; "" and 0 for nothing."""
        return self._calls.oldest_wait(now_ns)

    @property
    def unreadable(self) -> BaseException | None:
        """Returns why the log or a snapshot could not be read: then the process has to end."""
        return self._calls.unreadable

    def stop(self) -> None:
        """Begin nothing new on any thread; an effect that had to be stored ends the processing."""
        self._calls.stopped = True
        self._bodies.stop()
        self._snapshot_writing.stop()

    def execute(self, effect: NodeEffect | RetentionDue) -> None:
        """Done when this returns, or `paused` until it is. Raises StorageError when the node halts."""
        storage = self._storage
        if isinstance(effect, Respond):
            self._respond(effect)
        elif isinstance(effect, effects.RespondFetch):
            self._reads.respond_fetch(effect)
        elif isinstance(effect, effects.AppendBatch):
            storage.log.append(effect.batch)
        elif isinstance(effect, effects.FlushLog):
            self._calls.flush(storage.flush)
        elif isinstance(effect, effects.HighWatermarkUpdated):
            storage.note_committed(effect.offset)
        elif isinstance(effect, effects.WriteQuorumState):
            self._calls.store_again(effect, partial(storage.write_quorum_state, effect.state))
        elif isinstance(effect, effects.TruncateLog):
            self._reads.skip_all()
            self._reads.cut_files(effect, partial(storage.truncate_log, effect.end_offset))
        elif isinstance(effect, effects.SaveSnapshotSlice):
            self._save_slice(effect)
        elif isinstance(effect, effects.FinishSnapshot):
            self._calls.store(effect, partial(self._downloads.finish, effect.snapshot_id))
        elif isinstance(effect, effects.StartOver):
            self._reads.skip_all()
            self._reads.cut_files(effect, partial(storage.start_over_at, effect.snapshot_id))
        elif isinstance(effect, effects.RespondFetchSnapshot):
            self._reads.respond_fetch_snapshot(effect)
        elif isinstance(effect, effects.NoteRecovered):
            self._calls.store(effect, storage.note_recovered)
        elif isinstance(effect, RetentionDue):
            self._reads.skip_all()
            self._retention.apply(effect)
        elif isinstance(effect, effects.Halt):
            self._halt(effect)
        elif isinstance(effect, ReadLog):
            self._scheduler.call_soon(partial(self._inbox.guarded, partial(self._read_log, effect)))
        elif isinstance(effect, ReadSnapshot):
            self._read_snapshot(effect)
        elif isinstance(effect, (WriteSnapshotPart, WriteSnapshot, AbandonSnapshot)):
            self._snapshot_writing.carry_out(effect)
        elif isinstance(effect, CloseConnection):
            self._network.respond(effect.request_id, Close(effect.reason))
        elif isinstance(effect, DecodeBody):
            self._bodies.decode(effect)
        elif isinstance(effect, TakeTurn):
            self._ask_for_a_turn(effect)
        elif isinstance(effect, effects.Notice):
            self._notices.notice(effect)
        elif isinstance(effect, (RequestFailed, RefusalNoted)):
            self._log_refusal(effect)
        elif isinstance(effect, Audited):
            self._notices.audited(effect.entry)
        elif isinstance(effect, AuthorizerLines):
            self._notices.authorizer_lines(effect)
        elif isinstance(effect, effects.SendRequest):
            self._network.send(effect)
        elif isinstance(effect, (NodeConfigsChanged, LogLevelsChanged)):
            self._change_settings(effect)
        else:
            assert_never(effect)

    def _log_refusal(self, effect: RequestFailed | RefusalNoted) -> None:
        if isinstance(effect, RequestFailed):
            self._notices.request_failed(effect)
        else:
            self._notices.refusal_noted(effect.refusal)

    def _save_slice(self, effect: effects.SaveSnapshotSlice) -> None:
        saving = partial(self._downloads.save, effect.snapshot_id, effect.position, effect.data)
        self._calls.store(effect, partial(saving, effect.size_bytes))

    def _halt(self, effect: effects.Halt) -> None:
        if not effect.is_lasting:
            raise StorageError(effect.text)
        self._calls.store(effect, partial(self._storage.halt, effect.text, self._clock.wall_ms()))

    def _change_settings(self, effect: NodeConfigsChanged | LogLevelsChanged) -> None:
        if self.settings is None:
            return
        if isinstance(effect, NodeConfigsChanged):
            self.settings.node_configs(effect)
        else:
            self.settings.log_levels(effect)

    def _respond(self, effect: Respond) -> None:
        response = effect.response if effect.encoded is None else effect.encoded
        network = self._network
        if isinstance(network, ControllerNetwork):  # a native call, as in direct_calls
            network.respond(effect.request_id, response)
        else:
            network.respond(effect.request_id, response)

    def _ask_for_a_turn(self, effect: TakeTurn) -> None:
        self._pace.asked(effect)
        take = partial(self._scheduler.call_soon, partial(self._take_turn, effect.work))
        if effect.work == SNAPSHOT:
            self._snapshot_writing.when_there_is_room(take)
        else:
            take()

    def _take_turn(self, work: str) -> None:
        self._inbox.offer(TurnTaken(work, self._pace.begin(work)))

    def _read_log(self, effect: ReadLog) -> None:
        log = self._storage.log
        wanted = (effect.offset, effect.max_bytes, effect.end_offset)

        def read() -> bytes:
            # A snapshot may have taken the log's place since.
            return log.read(*wanted) if effect.offset >= log.start_offset else b""

        # It may be doing so right now: then only the storage thread knows where the log starts.
        may_look = not self.paused and effect.offset >= log.start_offset
        data = log.read_recent(*wanted) if may_look else None
        if data is None:
            self._calls.read(read, self._log_read)
        else:
            self._log_read(data)

    def _log_read(self, data: bytes) -> None:
        file = self._storage.log.file_of(base_offset_at(data, 0)) if data else ""
        self._inbox.offer(LogRead(data, file))
        collector.freeze()

    def _read_snapshot(self, effect: ReadSnapshot) -> None:
        def done(read: SnapshotRead) -> None:
            self._inbox.offer(read)
            collector.freeze()

        wanted = (effect.snapshot_id, effect.position, effect.max_bytes)
        self._calls.read(partial(self._storage.read_snapshot_part, *wanted), done)
