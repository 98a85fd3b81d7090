"""The loop around the pure node: event -> step -> effects in order, each done before the next is begun.

No effect waits for a disk on the loop's thread. Those that change files run on a thread of storage's; what
follows them waits, effects and events alike, and the loop serves connections meanwhile. Appends wait for
nothing, and their flush reports by an event. What has to be read from files is read on that same thread, in
the order in which it was asked for, so nothing is cut or deleted while it is read; nobody waits for that.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from kraftctl.controller.notice_sources import CONTROLLER, REGISTRATION, SNAPSHOT
from kraftctl.controller.request_context import RequestContext
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
from kraftctl.raft import effects, events
from kraftctl.raft.log_state import SnapshotInfo
from kraftctl.server.clock import Clock
from kraftctl.server.connection import Respond
from kraftctl.server.peers import Peers
from kraftctl.server.request_log import RateLimitedLog
from kraftctl.server.snapshot_downloads import SnapshotDownloads
from kraftctl.server.turn_probe import TurnProbe
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import RecordBatch, read_batches

logger = logging.getLogger("kraftctl.server.driver")

GOODBYE_SECONDS_MAX = 5.0
"""How long a stopping leader waits until all voters know that it resigned: Kafka's graceful shutdown."""

RESIGN_SECONDS_MAX = 2.0
"""How long a leader that cannot read its own log waits for the same before it stops."""

T = TypeVar("T")

_LEVELS = {
    effects.DEBUG: logging.DEBUG,
    effects.INFO: logging.INFO,
    effects.WARN: logging.WARNING,
    effects.ERROR: logging.ERROR,
}
_LOGGERS = {
    source: logging.getLogger(f"kraftctl.{source}")
    for source in (effects.RAFT, CONTROLLER, SNAPSHOT, REGISTRATION)
}


class RetentionDue:
    """Neither for the node nor from it: there is a new snapshot, so older ones may go."""


class Driver:
    """Owns the node, its inbox and its timer, all on the loop's thread, and the threads of storage.

    A failure of storage or a broken invariant is not survived: `failed` is completed with the
    exception, nothing is answered any more, and the process has to stop. What was acknowledged is on
    disk, what was not is unknown to everybody.
    """

    def __init__(
        self,
        node: ControllerNode,
        storage: MetadataPartition,
        clock: Clock,
        *,
        retention_bytes: int,
        retention_ms: int,
        client_id: str,
        request_timeout_ms: int,
        retry_backoff_ms: int,
    ) -> None:
        self._node = node
        self._storage = storage
        self._clock = clock
        self._peers = Peers(
            client_id=client_id,
            request_timeout_ms=request_timeout_ms,
            backoff_ms=retry_backoff_ms,
            offer=self.offer,
        )
        self._retention_bytes = retention_bytes
        self._retention_ms = retention_ms
        self._loop = asyncio.get_running_loop()
        self._inbox: deque[NodeEvent | RetentionDue] = deque()
        self._effects: Iterator[NodeEffect | RetentionDue] = iter(())
        self._draining = False
        self._paused = False
        self._ended = False
        self._unreadable: BaseException | None = None
        self._pending: dict[int, Respond] = {}
        self._next_request_id = 0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = -1
        self._stopped = False
        self._flusher = ThreadPoolExecutor(1, thread_name_prefix="metadata-log-flush")
        # Apart, so that a vote does not wait for a flush.
        self._storage_thread = ThreadPoolExecutor(1, thread_name_prefix="storage")
        # Apart, so that commits do not wait while a large snapshot is written.
        self._snapshot_writer = ThreadPoolExecutor(1, thread_name_prefix="snapshot-writer")
        self._downloads = SnapshotDownloads(storage.snapshots)
        self._failed_requests = RateLimitedLog(_LOGGERS[CONTROLLER], self._loop.time)
        self._may_stop = asyncio.Event()
        self.probe = TurnProbe(logger, self._loop.time)
        self.failed: asyncio.Future[object] = self._loop.create_future()

    def start(self) -> None:
        self.offer(events.Started())

    def submit(self, context: RequestContext, request: Message, respond: Respond) -> int:
        """Hand a request to the node; `respond` is called once, unless cancelled; maybe already inside."""
        request_id = self._next_request_id
        self._next_request_id += 1
        self._pending[request_id] = respond
        self.offer(ClientRequest(request_id, context, request))
        return request_id

    def cancel(self, request_id: int) -> None:
        """The connection is gone; whatever the request changes is still done."""
        if self._pending.pop(request_id, None) is not None:
            self.offer(events.RequestCancelled(request_id))

    def offer(self, event: NodeEvent) -> None:
        """Process `event`, after what is already waiting. After a failure nothing is processed any more."""
        self._offer(event)

    def _offer(self, event: NodeEvent | RetentionDue) -> None:
        if self._ended:
            return
        self._inbox.append(event)
        if not self._draining and not self._paused:
            self._drain()

    async def stop(self) -> None:
        """Resign if this node leads, finish what is being written, stop the timer."""
        if not self.failed.done():
            self.offer(events.ShutdownRequested())
            await self._say_goodbye()
        await self._peers.stop()
        if self._timer is not None:
            self._timer.cancel()
        self._stopped = True
        for thread in (self._flusher, self._storage_thread, self._snapshot_writer):
            await self._loop.run_in_executor(None, thread.shutdown)
        self._downloads.abort()

    async def _say_goodbye(self) -> None:
        try:
            async with asyncio.timeout(GOODBYE_SECONDS_MAX):
                await self._may_stop.wait()
        except TimeoutError:
            logger.warning("Not every voter knows that this leader resigned; the others will notice")

    def _drain(self) -> None:
        self._draining = True
        self._fatally(self._work_off)
        self._draining = False

    def _work_off(self) -> None:
        probe, now_ns = self.probe, self._clock.now_ns
        since_ns = now_ns()
        while True:
            for effect in self._effects:
                self._execute(effect)
                until_ns = now_ns()
                if until_ns - since_ns > probe.notable_ns:
                    probe.note(until_ns - since_ns, effect)
                since_ns = until_ns
                if self._paused or self._ended:
                    return
            if not self._inbox or self._ended:
                break
            event = self._inbox.popleft()
            self._effects = self._step(event)
            until_ns = now_ns()
            if until_ns - since_ns > probe.notable_ns:
                probe.note(until_ns - since_ns, event)
            since_ns = until_ns
        if self._node.may_stop:
            self._may_stop.set()
            if self._unreadable is not None:
                self._fail(self._unreadable)
        self._set_timer()

    def _step(self, event: NodeEvent | RetentionDue) -> Iterator[NodeEffect | RetentionDue]:
        if isinstance(event, RetentionDue):
            return iter((event,))
        return iter(self._node.step(event, self._clock.now_ms(), self._clock.wall_ms()))

    def _fatally(self, action: Callable[[], None]) -> None:
        """Whatever goes wrong in here ends the process: the one place that catches everything."""
        try:
            action()
        except Exception as error:  # noqa: BLE001 - handed on, never swallowed
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self._end()
        if not self.failed.done():
            self.failed.set_exception(error)
        self._may_stop.set()

    def _end(self) -> None:
        """Nothing more is processed, carried out or answered: as if the process had been killed here."""
        self._ended = True
        self._inbox.clear()
        self._effects = iter(())
        self._pending.clear()

    def _set_timer(self) -> None:
        if self._ended:
            return
        deadline_ms = self._node.next_deadline_ms
        if deadline_ms is None or deadline_ms == self._timer_ms:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = deadline_ms
        delay_ms = max(0, deadline_ms - self._clock.now_ms())
        self._timer = self._loop.call_later(delay_ms / 1000, self._deadline_reached)

    def _deadline_reached(self) -> None:
        self._timer_ms = -1
        self.offer(events.DeadlineReached())

    def _execute(self, effect: NodeEffect | RetentionDue) -> None:
        """Done when this returns, or `_paused` until it is."""
        storage = self._storage
        match effect:
            case effects.Respond():
                self._respond(effect.request_id, effect.response)
            case effects.RespondFetch():
                self._respond_fetch(effect)
            case effects.AppendBatch():
                storage.log.append(effect.batch)
            case effects.FlushLog():
                self._flush()
            case effects.WriteQuorumState():
                self._store(effect, partial(storage.write_quorum_state, effect.state))
            case effects.TruncateLog():
                self._store(effect, partial(storage.truncate_log, effect.end_offset))
            case effects.SaveSnapshotSlice():
                saving = partial(self._downloads.save, effect.snapshot_id, effect.position, effect.data)
                self._store(effect, saving)
            case effects.FinishSnapshot():
                self._store(effect, partial(self._downloads.finish, effect.snapshot_id))
            case effects.StartOver():
                self._store(effect, partial(storage.start_over_at, effect.snapshot_id))
            case effects.RespondFetchSnapshot():
                self._respond_fetch_snapshot(effect)
            case effects.NoteRecovered():
                self._store(effect, storage.note_recovered)
            case RetentionDue():
                self._store(effect, self._clean)
            case effects.Halt():
                raise StorageError(effect.text)
            case ReadLog():
                self._loop.call_soon(self._fatally, partial(self._read_log, effect))
            case ReadSnapshot():
                self._read_snapshot(effect)
            case WriteSnapshot():
                self._write_snapshot(effect)
            case CloseConnection():
                self._respond(effect.request_id, None)
            case TakeTurn():
                self._loop.call_soon(self.offer, TurnTaken())
            case effects.Notice():
                _LOGGERS[effect.source].log(_LEVELS[effect.level], "%s", effect.text)
            case RequestFailed():
                self._failed_requests.log(logging.ERROR, "%s", effect.text)
            case effects.SendRequest():
                self._peers.send(effect)

    def _respond(self, request_id: int, response: Message | None) -> None:
        respond = self._pending.pop(request_id, None)
        if respond is not None:
            respond(response)

    def _store(self, effect: NodeEffect | RetentionDue, call: Callable[[], NodeEvent | None]) -> None:
        """On storage's thread. What follows waits; what `call` returns is then the very next event."""
        if self._stopped:
            self._end()
            return
        self._paused = True
        storing = self._loop.run_in_executor(self._storage_thread, call)
        storing.add_done_callback(partial(self._stored, type(effect).__name__, self._clock.now_ns()))

    def _stored(self, what: str, since_ns: int, storing: asyncio.Future[NodeEvent | None]) -> None:
        self._paused = False
        self.probe.note_wait(self._clock.now_ns() - since_ns, what)
        error = storing.exception()
        if error is not None:
            self._fail(error)
        if self._ended:
            return
        event = storing.result()
        if event is not None:
            self._inbox.appendleft(event)
        self._drain()

    def _read(self, call: Callable[[], T], done: Callable[[T], None]) -> None:
        """On storage's thread, after all that was stored before; `done` is called with what was read."""
        if self._stopped:
            return
        reading = self._loop.run_in_executor(self._storage_thread, call)
        reading.add_done_callback(partial(self._was_read, done))

    def _was_read(self, done: Callable[[T], None], reading: asyncio.Future[T]) -> None:
        error = reading.exception()
        if error is not None:
            self._cannot_read(error)
        elif not self._ended:
            self._fatally(lambda: done(reading.result()))

    def _cannot_read(self, error: BaseException) -> None:
        """A leader that cannot read its own log cannot replicate it: it resigns, then stops.

        Nothing that was acknowledged is in doubt, so what is under way may still be written.
        """
        if self._ended or self._unreadable is not None:
            return
        self._unreadable = error
        logger.error(
            "Cannot read the metadata log or a snapshot; resigning if this node leads, then stopping: %s",
            error,
        )
        self._loop.call_later(RESIGN_SECONDS_MAX, self._fail, error)
        self.offer(events.ShutdownRequested())

    def _respond_fetch(self, effect: effects.RespondFetch) -> None:
        if effect.request_id not in self._pending:
            return
        log = self._storage.log
        where = (effect.read_offset, effect.max_bytes, effect.end_offset)
        records = log.read_recent(*where)
        if records is None:
            self._read(partial(log.read, *where), partial(self._respond_with_records, effect))
        else:
            self._respond_with_records(effect, records)

    def _respond_with_records(self, effect: effects.RespondFetch, records: bytes) -> None:
        self._respond(effect.request_id, effect.response_with(records))

    def _respond_fetch_snapshot(self, effect: effects.RespondFetchSnapshot) -> None:
        if effect.request_id not in self._pending:
            return
        where = (effect.snapshot_id, effect.position, effect.size_bytes)

        def respond(data: bytes) -> None:
            self._respond(effect.request_id, effect.response_with(data))

        self._read(partial(self._storage.read_snapshot_slice, *where), respond)

    def _flush(self) -> None:
        if self._stopped:
            return  # closing the log flushes what is left
        flushing = self._loop.run_in_executor(self._flusher, self._storage.flush)
        flushing.add_done_callback(partial(self._flushed, self._clock.now_ns()))

    def _flushed(self, since_ns: int, flushing: asyncio.Future[int]) -> None:
        self.probe.note_wait(self._clock.now_ns() - since_ns, "FlushLog")
        error = flushing.exception()
        if error is not None:
            self._fail(error)
        else:
            self.offer(events.LogFlushed(flushing.result()))

    def _read_log(self, effect: ReadLog) -> None:
        log = self._storage.log
        where = (effect.offset, effect.max_bytes, effect.end_offset)

        def read() -> bytes:
            # A snapshot may have taken the log's place since.
            return log.read(*where) if effect.offset >= log.start_offset else b""

        # It may be doing so right now: then only storage's thread knows where the log starts.
        may_look = not self._paused and effect.offset >= log.start_offset
        data = log.read_recent(*where) if may_look else None
        if data is None:
            self._read(read, self._log_read)
        else:
            self._log_read(data)

    def _log_read(self, data: bytes) -> None:
        self.offer(LogRead(list(read_batches(data))))
        # What was loaded lives as long as the process: the cyclic collector need not look at it again.
        gc.freeze()

    def _read_snapshot(self, effect: ReadSnapshot) -> None:
        def done(batches: list[RecordBatch]) -> None:
            self.offer(SnapshotRead(effect.snapshot_id, batches))
            gc.freeze()

        self._read(partial(self._storage.read_snapshot, effect.snapshot_id), done)

    def _write_snapshot(self, effect: WriteSnapshot) -> None:
        if self._stopped:
            return
        writing = self._loop.run_in_executor(
            self._snapshot_writer, self._storage.write_snapshot, effect.snapshot_id, effect.batches
        )
        writing.add_done_callback(self._snapshot_written)

    def _snapshot_written(self, writing: asyncio.Future[SnapshotInfo]) -> None:
        error = writing.exception()
        if error is not None:
            self._fail(error)
        else:
            written = writing.result()
            self.offer(events.SnapshotCreated(written.snapshot_id, written.size_bytes))
            self._offer(RetentionDue())

    def _clean(self) -> events.LogStartChanged | None:
        """Retention: with a new snapshot an older one, and the log below it, may be too old or too large."""
        start_offset = self._storage.clean(self._clock.wall_ms(), self._retention_bytes, self._retention_ms)
        return None if start_offset is None else events.LogStartChanged(start_offset)
