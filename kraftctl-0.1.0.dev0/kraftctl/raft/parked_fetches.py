"""Keeps fetches that wait for records or a new high watermark, so that an idle quorum is quiet (KIP-595).

They have a budget. Once it is used up, more important replicas take the places of others: voters before
observers that have fetched before, those before new ones, and all of them before readers without an id.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Final

from kraftctl.raft.raft_config import PARKED_BYTES_MAX, PARKED_FETCH_BYTES
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.replica_state import ReplicaState

ANONYMOUS: Final = 0
NEW_OBSERVER: Final = 1
KNOWN_OBSERVER: Final = 2
VOTER: Final = 3

RANKS: Final = (ANONYMOUS, NEW_OBSERVER, KNOWN_OBSERVER, VOTER)
"""The kinds of replicas, the least important first."""

STALE_DEADLINES_MAX: Final = 1_000
"""The number of old deadlines that are kept, in addition to as many as there are fetches."""


class ParkedFetch:
    """A validated Fetch. `request_high_watermark` is what the replica knows already.

    A `delayed` fetch waits for its deadline only: its replica repeated the same Fetch. `held_bytes` is what
    it holds while it waits, `rank` one of RANKS. `observer` is None for voters and readers without an id.
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
        held_bytes: int = PARKED_FETCH_BYTES,
        connection_id: int = 0,
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
        self.held_bytes = held_bytes
        self.connection_id = connection_id
        self.rank = ANONYMOUS
        self.delayed = False
        self.observer: ReplicaState | None = None

    def gathers_until_ms(self) -> int:
        """The time until which an observer that just had a response waits for more."""
        return 0 if self.observer is None else self.observer.gathers_until_ms(self.fetch_offset)

    def delay(self, until_ms: int) -> None:
        self.delayed = True
        self.deadline_ms = min(self.deadline_ms, until_ms)


class ParkedFetches:
    """The fetches in order of arrival, so that responses leave in that order."""

    def __init__(self) -> None:
        self._by_request_id: dict[int, ParkedFetch] = {}
        self._ids_by_rank: list[dict[int, None]] = [{} for _ in RANKS]
        self._bytes_by_rank = [0 for _ in RANKS]
        self._deadlines: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._by_request_id)

    @property
    def held_bytes(self) -> int:
        """The memory of all fetches, at most PARKED_BYTES_MAX."""
        return sum(self._bytes_by_rank)

    def make_room(self, fetch: ParkedFetch) -> list[ParkedFetch] | None:
        """Returns fetches of lower ranks that give up their places for `fetch`; None if they are not enough.

        The caller responds to them. The latest is the first: it has waited the shortest time.
        """
        missing = self.held_bytes + fetch.held_bytes - PARKED_BYTES_MAX
        if missing > sum(self._bytes_by_rank[: fetch.rank]):
            return None
        evicted: list[ParkedFetch] = []
        rank = ANONYMOUS
        while missing > 0:
            request_id = next(reversed(self._ids_by_rank[rank]), None)
            if request_id is None:
                rank += 1
                continue
            other = self._take(request_id)
            assert other is not None
            evicted.append(other)
            missing -= other.held_bytes
        return evicted

    def park(self, fetch: ParkedFetch) -> None:
        """Parks a fetch, for which there must be room."""
        assert fetch.request_id not in self._by_request_id
        self._by_request_id[fetch.request_id] = fetch
        self._ids_by_rank[fetch.rank][fetch.request_id] = None
        self._bytes_by_rank[fetch.rank] += fetch.held_bytes
        assert self.held_bytes <= PARKED_BYTES_MAX
        heappush(self._deadlines, (fetch.deadline_ms, fetch.request_id))

    def holds(self, request_id: int) -> bool:
        return request_id in self._by_request_id

    def remove(self, request_id: int) -> None:
        """Removes a fetch. It may be gone already: response and cancellation may cross."""
        self._take(request_id)
        if len(self._deadlines) > 2 * len(self._by_request_id) + STALE_DEADLINES_MAX:
            # A replica may have asked to wait for weeks.
            waiting = [(fetch.deadline_ms, fetch.request_id) for fetch in self._by_request_id.values()]
            heapify(waiting)
            self._deadlines = waiting

    def _take(self, request_id: int) -> ParkedFetch | None:
        fetch = self._by_request_id.pop(request_id, None)
        if fetch is not None:
            del self._ids_by_rank[fetch.rank][request_id]
            self._bytes_by_rank[fetch.rank] -= fetch.held_bytes
        return fetch

    @property
    def deadline_count(self) -> int:
        """The number of deadlines of fetches that wait, and of some that are gone."""
        return len(self._deadlines)

    def of_voters(self) -> list[ParkedFetch]:
        """Returns the fetches of replicas that voted when these came."""
        return [self._by_request_id[request_id] for request_id in self._ids_by_rank[VOTER]]

    def all(self) -> list[ParkedFetch]:
        return list(self._by_request_id.values())

    def has_expired(self, now_ms: int) -> bool:
        """Returns whether a deadline has come, perhaps of a fetch that is gone. This is cheap."""
        return bool(self._deadlines) and self._deadlines[0][0] <= now_ms

    def take_expired(self, now_ms: int) -> list[ParkedFetch]:
        expired: list[ParkedFetch] = []
        while self._deadlines and self._deadlines[0][0] <= now_ms:
            fetch = self._take(heappop(self._deadlines)[1])
            if fetch is not None:
                expired.append(fetch)
        return expired

    def next_deadline_ms(self) -> int | None:
        """Returns the earliest deadline. Heap entries of fetches that are gone are dropped here."""
        while self._deadlines:
            deadline_ms, request_id = self._deadlines[0]
            if request_id in self._by_request_id:
                return deadline_ms
            heappop(self._deadlines)
        return None
