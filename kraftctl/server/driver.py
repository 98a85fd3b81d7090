"""The loop around the pure node: event -> step -> effects in order, each done before the next is begun."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from kraftctl.node import ControllerNode
from kraftctl.node_io import (
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
from kraftctl.request_context import RequestContext
from kraftctl.server.clock import Clock
from kraftctl.server.connection import Respond
from kraftctl.server.peers import Peers
from kraftctl.server.request_log import RateLimitedLog
from kraftctl.server.snapshot_downloads import SnapshotDownloads
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import batches_before, read_batches

logger = logging.getLogger("kraftctl.server.driver")

GOODBYE_SECONDS_MAX = 5.0
"""How long a stopping leader waits until all voters know that it resigned: Kafka's graceful shutdown."""

_LEVELS = {effects.INFO: logging.INFO, effects.WARN: logging.WARNING, effects.ERROR: logging.ERROR}


class Driver:
    """Owns the node, its inbox and its timer. Everything runs on the loop's thread, except fsync.

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
        self._inbox: deque[NodeEvent] = deque()
        self._draining = False
        self._pending: dict[int, Respond] = {}
        self._next_request_id = 0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = -1
        self._stopped = False
        self._flusher = ThreadPoolExecutor(1, thread_name_prefix="metadata-log-flush")
        # Apart, so that commits do not wait while a large snapshot is written.
        self._snapshot_writer = ThreadPoolExecutor(1, thread_name_prefix="snapshot-writer")
        self._downloads = SnapshotDownloads(storage.snapshots)
        self._failed_requests = RateLimitedLog(logger, self._loop.time)
        self._may_stop = asyncio.Event()
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
        if self.failed.done():
            return
        self._inbox.append(event)
        if not self._draining:
            self._drain()

    async def stop(self) -> None:
        """Say goodbye to the quorum, finish the running flush, stop the timer."""
        if not self.failed.done():
            self.offer(events.ShutdownRequested())
            await self._say_goodbye()
        await self._peers.stop()
        self._downloads.abort()
        if self._timer is not None:
            self._timer.cancel()
        self._stopped = True
        await self._loop.run_in_executor(None, self._flusher.shutdown)
        await self._loop.run_in_executor(None, self._snapshot_writer.shutdown)

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
        while self._inbox and not self.failed.done():
            event = self._inbox.popleft()
            for effect in self._node.step(event, self._clock.now_ms(), self._clock.wall_ms()):
                self._execute(effect)
        if self._node.may_stop:
            self._may_stop.set()
        self._set_timer()

    def _fatally(self, action: Callable[[], None]) -> None:
        """Whatever goes wrong in here ends the process: the one place that catches everything."""
        try:
            action()
        except Exception as error:  # noqa: BLE001 - handed on, never swallowed
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self._inbox.clear()
        self._pending.clear()
        if not self.failed.done():
            self.failed.set_exception(error)
        self._may_stop.set()

    def _set_timer(self) -> None:
        if self.failed.done():
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

    def _execute(self, effect: NodeEffect) -> None:
        match effect:
            case effects.Respond():
                self._respond(effect.request_id, effect.response)
            case effects.RespondFetch():
                self._respond_fetch(effect)
            case effects.AppendBatch():
                self._storage.log.append(effect.batch)
            case effects.FlushLog():
                self._flush()
            case effects.WriteQuorumState():
                self._storage.write_quorum_state(effect.state)
            case effects.TruncateLog():
                self._storage.truncate_log(effect.end_offset)
            case effects.SaveSnapshotSlice():
                self._downloads.save(effect.snapshot_id, effect.position, effect.data)
            case effects.FinishSnapshot():
                self._inbox.appendleft(self._downloads.finish(effect.snapshot_id))
            case effects.StartOver():
                self._storage.start_over_at(effect.snapshot_id)
            case effects.RespondFetchSnapshot():
                self._respond_fetch_snapshot(effect)
            case effects.NoteRecovered():
                self._storage.note_recovered()
            case effects.Halt():
                raise StorageError(effect.text)
            case ReadLog():
                self._loop.call_soon(self._fatally, partial(self._read_log, effect))
            case ReadSnapshot():
                self._loop.call_soon(self._fatally, partial(self._read_snapshot, effect))
            case WriteSnapshot():
                self._write_snapshot(effect)
            case CloseConnection():
                self._respond(effect.request_id, None)
            case TakeTurn():
                self._loop.call_soon(self.offer, TurnTaken())
            case effects.Notice():
                logger.log(_LEVELS[effect.level], "%s", effect.text)
            case RequestFailed():
                self._failed_requests.log(logging.ERROR, "%s", effect.text)
            case effects.SendRequest():
                self._peers.send(effect)

    def _respond(self, request_id: int, response: Message | None) -> None:
        respond = self._pending.pop(request_id, None)
        if respond is not None:
            respond(response)

    def _respond_fetch(self, effect: effects.RespondFetch) -> None:
        if effect.request_id not in self._pending:
            return
        records = self._storage.log.read(effect.read_offset, effect.max_bytes)
        if effect.end_offset < self._storage.log.end_offset:
            records = batches_before(records, effect.end_offset)
        effect.response.responses[0].partitions[0].records = records
        self._respond(effect.request_id, effect.response)

    def _respond_fetch_snapshot(self, effect: effects.RespondFetchSnapshot) -> None:
        if effect.request_id not in self._pending:
            return
        partition = effect.response.topics[0].partitions[0]
        partition.unaligned_records = self._storage.read_snapshot_slice(
            effect.snapshot_id, effect.position, effect.size_bytes
        )
        self._respond(effect.request_id, effect.response)

    def _flush(self) -> None:
        if self._stopped:
            return  # closing the log flushes what is left
        flushing = self._loop.run_in_executor(self._flusher, self._storage.flush)
        flushing.add_done_callback(self._flushed)

    def _flushed(self, flushing: asyncio.Future[int]) -> None:
        error = flushing.exception()
        if error is not None:
            self._fail(error)
        else:
            self.offer(events.LogFlushed(flushing.result()))

    def _read_log(self, effect: ReadLog) -> None:
        log = self._storage.log
        # A snapshot may have taken the log's place since.
        data = log.read(effect.offset, effect.max_bytes) if effect.offset >= log.start_offset else b""
        self.offer(LogRead(list(read_batches(data))))
        # What was loaded lives as long as the process: the cyclic collector need not look at it again.
        gc.freeze()

    def _read_snapshot(self, effect: ReadSnapshot) -> None:
        self.offer(SnapshotRead(effect.snapshot_id, self._storage.read_snapshot(effect.snapshot_id)))
        gc.freeze()

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
            self._fatally(self._clean)

    def _clean(self) -> None:
        """Retention: with a new snapshot an older one, and the log below it, may be too old or too large."""
        start_offset = self._storage.clean(self._clock.wall_ms(), self._retention_bytes, self._retention_ms)
        if start_offset is not None:
            self.offer(events.LogStartChanged(start_offset))
