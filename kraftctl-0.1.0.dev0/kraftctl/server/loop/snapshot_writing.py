"""The snapshot of our own that is being written: its parts on their way to the snapshot thread (KIP-630)."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from kraftctl.node.events import AbandonSnapshot, WriteSnapshot, WriteSnapshotPart
from kraftctl.raft.events import SnapshotCreated
from kraftctl.raft.log_state import SnapshotInfo
from kraftctl.server.loop.descriptor_shortage import DESCRIPTOR_RETRY_SECONDS, is_out_of_descriptors
from kraftctl.server.loop.executor_protocols import Inbox, RetentionDue, Scheduler, Storage
from kraftctl.server.process.finished_call import Finished

logger = logging.getLogger("kraftctl.server.snapshots")

WAITING_BYTES_MAX: Final = 4 * 1024 * 1024
"""With more than that the next part is encoded when the disk has taken these: memory stays bounded."""

SnapshotEffect = WriteSnapshotPart | WriteSnapshot | AbandonSnapshot


class SnapshotWriting:
    """Calls of the thread follow one another; parts that come meanwhile are written together.

    A write that fails ends the processing, except when there is no descriptor for the file: then it is
    repeated.
    """

    def __init__(self, storage: Storage, scheduler: Scheduler, inbox: Inbox) -> None:
        self._storage = storage
        self._scheduler = scheduler
        self._inbox = inbox
        self._waiting: deque[SnapshotEffect] = deque()
        self._waiting_bytes = 0
        self._running = False
        self._stopped = False
        self._held: Callable[[], None] | None = None

    def stop(self) -> None:
        """Begin no other call. The file stays unfinished, unless its last part is being written."""
        self._stopped = True

    def carry_out(self, effect: SnapshotEffect) -> None:
        """After those that wait."""
        self._waiting.append(effect)
        self._waiting_bytes += _size_of(effect)
        self._begin()

    def when_there_is_room(self, call: Callable[[], None]) -> None:
        """Call it now, or when the disk has taken most of what waits. One such call waits at most."""
        if self._waiting_bytes <= WAITING_BYTES_MAX:
            call()
            return
        assert self._held is None, "one turn is asked for at a time"
        self._held = call

    def _begin(self) -> None:
        if self._running or self._stopped or not self._waiting:
            return
        first = self._waiting.popleft()
        taken_bytes = _size_of(first)
        if isinstance(first, AbandonSnapshot):
            self._run(self._storage.abandon_snapshot, 0)
            return
        batches = list(first.batches)
        last = first
        while not isinstance(last, WriteSnapshot) and self._waiting:
            following = self._waiting[0]
            if isinstance(following, AbandonSnapshot):
                break
            last = following
            self._waiting.popleft()
            batches += last.batches
            taken_bytes += _size_of(last)
        is_last = isinstance(last, WriteSnapshot)
        write = self._storage.write_snapshot if is_last else self._storage.write_snapshot_part
        self._run(partial(write, first.snapshot_id, batches, first.position), taken_bytes)

    def _run(self, call: Callable[[], SnapshotInfo | None], taken_bytes: int) -> None:
        self._running = True
        self._scheduler.run_on_snapshot_thread(call, partial(self._ended, call, taken_bytes))

    def _ended(
        self, call: Callable[[], SnapshotInfo | None], taken_bytes: int, ended: Finished[SnapshotInfo | None]
    ) -> None:
        self._running = False
        error = ended.exception()
        if is_out_of_descriptors(error) and not self._inbox.ended:
            logger.error("%s; retrying in %.1f s", error, DESCRIPTOR_RETRY_SECONDS)
            self._running = True
            self._scheduler.call_later(DESCRIPTOR_RETRY_SECONDS, partial(self._retry, call, taken_bytes))
            return
        if error is not None:
            self._inbox.fail(error)
            return
        self._waiting_bytes -= taken_bytes
        written = ended.result()
        if written is not None:
            self._inbox.offer(SnapshotCreated(written.snapshot_id, written.size_bytes))
            self._inbox.offer(RetentionDue())
        self._begin()
        held = self._held
        if held is not None and self._waiting_bytes <= WAITING_BYTES_MAX:
            self._held = None
            held()

    def _retry(self, call: Callable[[], SnapshotInfo | None], taken_bytes: int) -> None:
        if not self._stopped:
            self._run(call, taken_bytes)


def _size_of(effect: SnapshotEffect) -> int:
    return 0 if isinstance(effect, AbandonSnapshot) else sum(map(len, effect.batches))
