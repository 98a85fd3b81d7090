"""ReplicaReads: responds to replicas that fetch the log or a snapshot with what is in memory or in files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kraftctl.node.events import NodeEffect, NodeEvent
from kraftctl.raft import effects
from kraftctl.server.loop.descriptor_shortage import is_out_of_descriptors
from kraftctl.server.loop.executor_protocols import Network, RetentionDue, Storage
from kraftctl.server.loop.long_responses import RECORDS_BYTES_MIN
from kraftctl.server.loop.read_cache import ReadCache
from kraftctl.server.loop.response_reads import ROOM_SECONDS, ResponseRead, ResponseReads
from kraftctl.server.loop.snapshot_reads import SnapshotReads
from kraftctl.server.loop.storage_calls import StorageCalls
from kraftctl.server.process.finished_call import Finished
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.shared_response import SharedResponse


class ReplicaReads:
    """Reads files in turn, a few at a time, and keeps what was read for the next replica."""

    def __init__(self, storage: Storage, network: Network, calls: StorageCalls) -> None:
        self._storage = storage
        self._network = network
        self._calls = calls
        self._cache = ReadCache()
        self._turns = ResponseReads(network.awaits, network.has_room, self._pause)
        self._snapshots = SnapshotReads()

    def skip_all(self) -> None:
        """Responds without records to those that wait: what they want may be gone."""
        self._turns.skip_all()

    def cut_files(self, effect: NodeEffect | RetentionDue, call: Callable[[], NodeEvent | None]) -> None:
        """Stores, and forgets on the same thread what was read from files that may be shorter then."""

        def cut() -> NodeEvent | None:
            self._cache.clear()
            return call()

        self._calls.store(effect, cut)

    def held_snapshots(self) -> frozenset[OffsetAndEpoch]:
        """Returns the snapshots that are being fetched, which retention leaves."""
        return self._snapshots.held(self._calls.clock.now_ms())

    def respond_fetch(self, effect: effects.RespondFetch) -> None:
        """Responds to all requests of the effect, which fetch the same records."""
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
            return self._cache.find_of_log(slice_of_log, effect.end_offset)

        def read(bytes_max: int) -> bytes:
            size_bytes = min(effect.max_bytes, bytes_max)
            from_file = partial(log.read, effect.read_offset, size_bytes, effect.end_offset)
            return self._cache.of_log((effect.read_offset, size_bytes), effect.end_offset, from_file)

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

    def respond_fetch_snapshot(self, effect: effects.RespondFetchSnapshot) -> None:
        """Responds with a slice of a snapshot."""
        self._snapshots.note(effect.snapshot_id, self._calls.clock.now_ms())
        if not self._network.awaits(effect.request_id):
            return

        def find(bytes_max: int) -> bytes | None:
            wanted = (effect.snapshot_id, effect.position, min(effect.size_bytes, bytes_max))
            return self._cache.find_of_snapshot(wanted)

        def read(bytes_max: int) -> bytes:
            wanted = (effect.snapshot_id, effect.position, min(effect.size_bytes, bytes_max))
            from_file = partial(self._storage.read_snapshot_slice, *wanted)
            return self._cache.of_snapshot(wanted, from_file)

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
                self._calls.inbox.guarded(skip)
            else:
                self._calls.was_read(partial(self._respond_with, request_id, effect), reading)
            self._turns.ended()

        def answer(bytes_max: int) -> bool:
            """From memory, without the storage thread: one context switch for a Fetch of ten, not six."""
            kept = None if self._calls.stopped else find(bytes_max)
            if kept is None:
                return False
            self._calls.inbox.guarded(partial(self._respond_with, request_id, effect, kept))
            return True

        def begin(bytes_max: int) -> None:
            if not self._calls.stopped:
                self._calls.scheduler.run_on_storage_thread(partial(read, bytes_max), done)

        address = self._network.address_of(request_id)
        of_voter = self._network.is_voter(request_id)
        self._turns.submit(address, ResponseRead(request_id, answer, begin, skip, of_voter=of_voter))

    def _pause(self) -> None:
        resume = partial(self._calls.inbox.guarded, self._turns.resume)
        self._calls.scheduler.call_later(ROOM_SECONDS, resume)

    def _respond_with(
        self, request_id: int, effect: effects.RespondFetch | effects.RespondFetchSnapshot, data: bytes
    ) -> None:
        self._network.respond(request_id, effect.response_with(data))
