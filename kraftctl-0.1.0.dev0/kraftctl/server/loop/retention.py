"""Retention: deletes older snapshots and the log below them after each new snapshot."""

from __future__ import annotations

from functools import partial

from kraftctl.raft import events
from kraftctl.server.loop.executor_protocols import RetentionDue, Storage
from kraftctl.server.loop.replica_reads import ReplicaReads
from kraftctl.server.loop.snapshot_reads import READING_MS
from kraftctl.server.loop.storage_calls import StorageCalls
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch


class Retention:
    """Applies metadata.max.retention.bytes and .ms. What is being fetched stays for a while."""

    def __init__(
        self,
        storage: Storage,
        calls: StorageCalls,
        reads: ReplicaReads,
        *,
        retention_bytes: int,
        retention_ms: int,
    ) -> None:
        self._storage = storage
        self._calls = calls
        self._reads = reads
        self._retention_bytes = retention_bytes
        self._retention_ms = retention_ms
        self._is_due = False
        """Whether it runs again by itself."""

    def apply(self, effect: RetentionDue) -> None:
        """With a new snapshot an older one, and the log below it, may be too old or too large. One that is
        being fetched stays, and retention runs again until it is not."""
        held = self._reads.held_snapshots()
        if held and not self._is_due:
            self._is_due = True
            self._calls.scheduler.call_later(READING_MS / 1000, self._again)
        self._reads.cut_files(effect, partial(self._clean, held))

    def _again(self) -> None:
        self._is_due = False
        if not self._calls.stopped:
            self._calls.inbox.offer(RetentionDue())

    def _clean(self, held: frozenset[OffsetAndEpoch]) -> events.LogStartChanged | None:
        now_ms = self._calls.clock.wall_ms()
        cleaned = self._storage.clean(now_ms, self._retention_bytes, self._retention_ms, held)
        return None if cleaned is None else events.LogStartChanged(cleaned.start_offset, cleaned.deleted)
