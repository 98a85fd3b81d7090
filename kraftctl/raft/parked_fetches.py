"""KIP-595: fetches that wait for records or a new high watermark, so that an idle quorum is quiet."""

from __future__ import annotations

from heapq import heappop, heappush

from kraftctl.raft.raft_config import PARKED_FETCHES_MAX
from kraftctl.raft.replica_key import ReplicaKey


class ParkedFetch:
    """A validated Fetch. `request_high_watermark` is what the replica knows already.

    A `delayed` fetch waits for its deadline only: its replica repeated the same Fetch.
    """

    def __init__(
        self,
        *,
        request_id: int,
        listener_name: str,
        version: int,
        key: ReplicaKey,
        fetch_offset: int,
        last_fetched_epoch: int,
        request_high_watermark: int,
        max_bytes: int,
        deadline_ms: int,
    ) -> None:
        self.request_id = request_id
        self.listener_name = listener_name
        self.version = version
        self.key = key
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.request_high_watermark = request_high_watermark
        self.max_bytes = max_bytes
        self.deadline_ms = deadline_ms
        self.delayed = False

    def delay(self, until_ms: int) -> None:
        self.delayed = True
        self.deadline_ms = min(self.deadline_ms, until_ms)


class ParkedFetches:
    """In order of arrival, so that responses leave in that order."""

    def __init__(self) -> None:
        self._by_request_id: dict[int, ParkedFetch] = {}
        self._deadlines: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._by_request_id)

    def is_full(self) -> bool:
        return len(self._by_request_id) >= PARKED_FETCHES_MAX

    def park(self, fetch: ParkedFetch) -> None:
        assert not self.is_full()
        assert fetch.request_id not in self._by_request_id
        self._by_request_id[fetch.request_id] = fetch
        heappush(self._deadlines, (fetch.deadline_ms, fetch.request_id))

    def remove(self, request_id: int) -> None:
        """Unknown ids are fine: the answer and the cancellation may cross."""
        self._by_request_id.pop(request_id, None)

    def all(self) -> list[ParkedFetch]:
        return list(self._by_request_id.values())

    def has_expired(self, now_ms: int) -> bool:
        """Cheap; also true if the fetch of that deadline was answered before."""
        return bool(self._deadlines) and self._deadlines[0][0] <= now_ms

    def take_expired(self, now_ms: int) -> list[ParkedFetch]:
        expired: list[ParkedFetch] = []
        while self._deadlines and self._deadlines[0][0] <= now_ms:
            fetch = self._by_request_id.pop(heappop(self._deadlines)[1], None)
            if fetch is not None:
                expired.append(fetch)
        return expired

    def next_deadline_ms(self) -> int | None:
        """The earliest deadline. Heap entries of answered fetches are dropped here."""
        while self._deadlines:
            deadline_ms, request_id = self._deadlines[0]
            if request_id in self._by_request_id:
                return deadline_ms
            heappop(self._deadlines)
        return None
