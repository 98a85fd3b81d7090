"""Carries out the effects of a node, in order, each done before the next begins.

No effect waits for a disk on the thread of the node. Effects that change files run on the storage thread;
the effects and events after them wait, while connections are served. Appends do not wait for the disk, and
the end of a flush is an event. Files are read on the storage thread, too, in the order of the effects, so
nothing is truncated or deleted while it is read; nothing waits for a read.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TypeVar, assert_never

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
    NodeEvent,
    ReadLog,
    ReadSnapshot,
    RequestFailed,
    SnapshotRead,
    TakeTurn,
    TurnTaken,
    WriteSnapshot,
    WriteSnapshotPart,
)
from kraftctl.node.long_work import SNAPSHOT
from kraftctl.node.request_outcomes import Close
from kraftctl.raft import effects, events
from kraftctl.raft.effects import Respond
from kraftctl.server.loop.body_decoding import BodyDecoding
from kraftctl.server.loop.controller_network import ControllerNetwork
from kraftctl.server.loop.descriptor_shortage import DESCRIPTOR_RETRY_SECONDS, is_out_of_descriptors
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
from kraftctl.server.loop.long_responses import RECORDS_BYTES_MIN
from kraftctl.server.loop.read_cache import ReadCache
from kraftctl.server.loop.response_reads import ROOM_SECONDS, ResponseRead, ResponseReads
from kraftctl.server.loop.snapshot_reads import READING_MS, SnapshotReads
from kraftctl.server.loop.snapshot_writing import SnapshotWriting
from kraftctl.server.loop.turn_probe import TurnProbe
from kraftctl.server.process import collector
from kraftctl.server.process.finished_call import Finished
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.batch_framing import base_offset_at
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.shared_response import SharedResponse

logger = logging.getLogger("kraftctl.server.effect_executor")

RESIGN_SECONDS_MAX = 2.0
"""How long a leader that cannot read its own log waits until all voters know that it resigned."""

T = TypeVar("T")


class EffectExecutor:
    """Knows neither a loop nor a file nor a socket: those are behind `storage`, `network` and `scheduler`.

    While it is `paused`, nothing may be executed; `inbox.resume` ends the pause. `unreadable` is not None
    once the log or a snapshot could not be read: the node was asked to resign, and the process has to end.
    """

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
        self._clock = clock
        self._scheduler = scheduler
        self._notices = notices
        self._inbox = inbox
        self._probe = probe
        self._pace = pace
        self.settings: Settings | None = None
        """None: they never change."""
        self._bodies = BodyDecoding(scheduler, network, inbox)
        self._snapshot_writing = SnapshotWriting(storage, scheduler, inbox)
        self._retention_bytes = retention_bytes
        self._retention_ms = retention_ms
        self._read_cache = ReadCache()
        self._response_reads = ResponseReads(network.awaits, network.has_room, self._pause_reads)
        self._snapshot_reads = SnapshotReads()
        self._retention_is_due = False
        self._stopped = False
        self.paused = False
        self.unreadable: BaseException | None = None

    def stop(self) -> None:
        """Begin nothing new on any thread; an effect that had to be stored ends the processing."""
        self._stopped = True
        self._bodies.stop()
        self._snapshot_writing.stop()

    def execute(self, effect: NodeEffect | RetentionDue) -> None:
        """Done when this returns, or `paused` until it is. Raises StorageError when the node halts."""
        storage = self._storage
        if isinstance(effect, Respond):
            self._respond(effect)
        elif isinstance(effect, effects.RespondFetch):
            self._respond_fetch(effect)
        elif isinstance(effect, effects.AppendBatch):
            storage.log.append(effect.batch)
        elif isinstance(effect, effects.FlushLog):
            self._flush()
        elif isinstance(effect, effects.HighWatermarkUpdated):
            storage.note_committed(effect.offset)
        elif isinstance(effect, effects.WriteQuorumState):
            self._store_again(effect, partial(storage.write_quorum_state, effect.state))
        elif isinstance(effect, effects.TruncateLog):
            self._response_reads.skip_all()
            self._cut_files(effect, partial(storage.truncate_log, effect.end_offset))
        elif isinstance(effect, effects.SaveSnapshotSlice):
            self._save_slice(effect)
        elif isinstance(effect, effects.FinishSnapshot):
            self._store(effect, partial(self._downloads.finish, effect.snapshot_id))
        elif isinstance(effect, effects.StartOver):
            self._response_reads.skip_all()
            self._cut_files(effect, partial(storage.start_over_at, effect.snapshot_id))
        elif isinstance(effect, effects.RespondFetchSnapshot):
            self._respond_fetch_snapshot(effect)
        elif isinstance(effect, effects.NoteRecovered):
            self._store(effect, storage.note_recovered)
        elif isinstance(effect, RetentionDue):
            self._response_reads.skip_all()
            self._apply_retention(effect)
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
        elif isinstance(effect, RequestFailed):
            self._notices.request_failed(effect)
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

    def _save_slice(self, effect: effects.SaveSnapshotSlice) -> None:
        saving = partial(self._downloads.save, effect.snapshot_id, effect.position, effect.data)
        self._store(effect, partial(saving, effect.size_bytes))

    def _halt(self, effect: effects.Halt) -> None:
        if not effect.is_lasting:
            raise StorageError(effect.text)
        self._store(effect, partial(self._storage.halt, effect.text, self._clock.wall_ms()))

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

    # What is stored.

    def _store(self, effect: NodeEffect | RetentionDue, call: Callable[[], NodeEvent | None]) -> None:
        """On the storage thread. What follows waits; what `call` returns is then the very next event."""
        if self._stopped:
            self._inbox.end()
            return
        self.paused = True
        stored = partial(self._stored, type(effect).__name__, self._clock.now_ns())
        self._scheduler.run_on_storage_thread(call, stored)

    def _stored(self, what: str, since_ns: int, storing: Finished[NodeEvent | None]) -> None:
        self.paused = False
        self._probe.note_wait(self._clock.now_ns() - since_ns, what)
        error = storing.exception()
        if error is not None:
            self._inbox.fail(error)
        if not self._inbox.ended:
            self._inbox.resume(storing.result())

    def _cut_files(self, effect: NodeEffect | RetentionDue, call: Callable[[], NodeEvent | None]) -> None:
        """Store, and forget on the same thread what was read from files that may be shorter then."""

        def cut() -> NodeEvent | None:
            self._read_cache.clear()
            return call()

        self._store(effect, cut)

    def _store_again(self, effect: NodeEffect, call: Callable[[], None]) -> None:
        """Like `_store`, but repeated until there is a descriptor for it, while what follows waits."""
        if self._stopped:
            self._inbox.end()
            return
        self.paused = True
        since_ns = self._clock.now_ns()

        def stored(storing: Finished[None]) -> None:
            error = storing.exception()
            if is_out_of_descriptors(error) and not self._inbox.ended:
                logger.error("%s; retrying in %.1f s", error, DESCRIPTOR_RETRY_SECONDS)
                self._scheduler.call_later(DESCRIPTOR_RETRY_SECONDS, partial(self._store_again, effect, call))
            else:
                self._stored(type(effect).__name__, since_ns, storing)

        self._scheduler.run_on_storage_thread(call, stored)

    def _apply_retention(self, effect: RetentionDue) -> None:
        """With a new snapshot an older one, and the log below it, may be too old or too large. One that is
        being fetched stays, and retention runs again until it is not."""
        held = self._snapshot_reads.held(self._clock.now_ms())
        if held and not self._retention_is_due:
            self._retention_is_due = True
            self._scheduler.call_later(READING_MS / 1000, self._retention_again)
        self._cut_files(effect, partial(self._clean, held))

    def _retention_again(self) -> None:
        self._retention_is_due = False
        if not self._stopped:
            self._inbox.offer(RetentionDue())

    def _clean(self, held: frozenset[OffsetAndEpoch]) -> events.LogStartChanged | None:
        now_ms = self._clock.wall_ms()
        cleaned = self._storage.clean(now_ms, self._retention_bytes, self._retention_ms, held)
        return None if cleaned is None else events.LogStartChanged(cleaned.start_offset, cleaned.deleted)

    def _flush(self) -> None:
        if self._stopped:
            return  # closing the log flushes what is left
        flushed = partial(self._flushed, self._clock.now_ns())
        self._scheduler.run_on_flush_thread(self._storage.flush, flushed)

    def _flushed(self, since_ns: int, flushing: Finished[int]) -> None:
        self._probe.note_wait(self._clock.now_ns() - since_ns, "FlushLog")
        error = flushing.exception()
        if error is not None:
            self._inbox.fail(error)
        else:
            self._inbox.offer(events.LogFlushed(flushing.result()))

    # What is read.

    def _read(self, call: Callable[[], T], done: Callable[[T], None]) -> None:
        """On the storage thread, after all that was stored before; `done` gets what was read."""
        if self._stopped:
            return
        self._scheduler.run_on_storage_thread(call, partial(self._was_read, done))

    def _was_read(self, done: Callable[[T], None], reading: Finished[T]) -> None:
        error = reading.exception()
        if error is not None:
            self._cannot_read(error)
        elif not self._inbox.ended:
            self._inbox.guarded(lambda: done(reading.result()))

    def _cannot_read(self, error: BaseException) -> None:
        """A leader that cannot read its own log cannot replicate it: it resigns, then stops.

        Nothing that was acknowledged is in doubt, so writes that are running may still end.
        """
        if self._inbox.ended or self.unreadable is not None:
            return
        self.unreadable = error
        logger.error(
            "Cannot read the metadata log or a snapshot; resigning if this node leads, then stopping: %s",
            error,
        )
        self._scheduler.call_later(RESIGN_SECONDS_MAX, partial(self._inbox.fail, error))
        self._inbox.offer(events.ShutdownRequested())

    def _respond_fetch(self, effect: effects.RespondFetch) -> None:
        request_ids = [request_id for request_id in effect.request_ids if self._network.awaits(request_id)]
        if not request_ids:
            return
        log = self._storage.log
        wanted = (effect.read_offset, effect.max_bytes, effect.end_offset)
        records = log.read_recent(*wanted)
        if records is not None:
            self._respond_to_all(request_ids, effect, records)
            return

        def find(bytes_max: int) -> bytes | None:
            slice_of_log = (effect.read_offset, min(effect.max_bytes, bytes_max))
            return self._read_cache.find_of_log(slice_of_log, effect.end_offset)

        def read(bytes_max: int) -> bytes:
            size_bytes = min(effect.max_bytes, bytes_max)
            from_file = partial(log.read, effect.read_offset, size_bytes, effect.end_offset)
            return self._read_cache.of_log((effect.read_offset, size_bytes), effect.end_offset, from_file)

        # Each has its own turn, and the bytes that its turn allows.
        for request_id in request_ids:
            self._read_in_turn(request_id, effect, find, read)

    def _respond_to_all(self, request_ids: list[int], effect: effects.RespondFetch, records: bytes) -> None:
        if len(request_ids) == 1 or len(records) >= RECORDS_BYTES_MIN:
            # Long records are sent as they are, without a copy.
            for request_id in request_ids:
                self._respond_with(request_id, effect, records)
            return
        shared = SharedResponse(effect.response_with(records))
        for request_id in request_ids:
            self._network.respond(request_id, shared)

    def _respond_fetch_snapshot(self, effect: effects.RespondFetchSnapshot) -> None:
        self._snapshot_reads.note(effect.snapshot_id, self._clock.now_ms())
        if not self._network.awaits(effect.request_id):
            return

        def find(bytes_max: int) -> bytes | None:
            wanted = (effect.snapshot_id, effect.position, min(effect.size_bytes, bytes_max))
            return self._read_cache.find_of_snapshot(wanted)

        def read(bytes_max: int) -> bytes:
            wanted = (effect.snapshot_id, effect.position, min(effect.size_bytes, bytes_max))
            from_file = partial(self._storage.read_snapshot_slice, *wanted)
            return self._read_cache.of_snapshot(wanted, from_file)

        self._read_in_turn(effect.request_id, effect, find, read)

    def _read_in_turn(
        self,
        request_id: int,
        effect: effects.RespondFetch | effects.RespondFetchSnapshot,
        find: Callable[[int], bytes | None],
        read: Callable[[int], bytes],
    ) -> None:
        """Respond with what `find` or else `read` returns, called with how many bytes they may read."""
        # Nothing yet: the replica asks again, and learns whether what it wants is still there.
        skip = partial(self._respond_with, request_id, effect, b"")

        def done(reading: Finished[bytes]) -> None:
            if is_out_of_descriptors(reading.exception()):
                self._inbox.guarded(skip)
            else:
                self._was_read(partial(self._respond_with, request_id, effect), reading)
            self._response_reads.ended()

        def answer(bytes_max: int) -> bool:
            """From memory, without the storage thread: one context switch for a Fetch of ten, not six."""
            kept = None if self._stopped else find(bytes_max)
            if kept is None:
                return False
            self._inbox.guarded(partial(self._respond_with, request_id, effect, kept))
            return True

        def begin(bytes_max: int) -> None:
            if not self._stopped:
                self._scheduler.run_on_storage_thread(partial(read, bytes_max), done)

        address = self._network.address_of(request_id)
        of_voter = self._network.is_voter(request_id)
        self._response_reads.submit(address, ResponseRead(request_id, answer, begin, skip, of_voter=of_voter))

    def _pause_reads(self) -> None:
        resume = partial(self._inbox.guarded, self._response_reads.resume)
        self._scheduler.call_later(ROOM_SECONDS, resume)

    def _respond_with(
        self, request_id: int, effect: effects.RespondFetch | effects.RespondFetchSnapshot, data: bytes
    ) -> None:
        self._network.respond(request_id, effect.response_with(data))

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
            self._read(read, self._log_read)
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
        self._read(partial(self._storage.read_snapshot_part, *wanted), done)
