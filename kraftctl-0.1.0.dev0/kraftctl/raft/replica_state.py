"""ReplicaState: how far one replica has fetched, as its leader knows it (KIP-595, KIP-836)."""

from __future__ import annotations

from typing import Final

from kraftctl.raft.high_watermark import UNKNOWN_OFFSET
from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey, is_same_replica
from kraftctl.raft.voter_set import Endpoints

OVERLAPS_WITHIN_MS: Final = 2_000
"""Two processes with one identity fetch at the same time more often: each every half second at least."""


class ReplicaState:
    """The state; `end_offset` is exclusive. Times are -1 until the first fetch; `_wall_ms` ones are for
    people.

    `known_since_ms` is that of an observer: its first Fetch in this epoch.

    `heard_ms` is when it last fetched a slice of a snapshot; of a voter, records as well.

    `fetched_directory_id` is that of its latest Fetch: for a static voter, `key` has none (kraft.version 0).
    """

    def __init__(self, key: ReplicaKey, endpoints: Endpoints) -> None:
        self.key = key
        self.endpoints = endpoints
        self.fetched_directory_id = NO_DIRECTORY_ID
        self.end_offset = UNKNOWN_OFFSET
        self.known_since_ms = -1
        self.last_fetch_ms = -1
        self.heard_ms = -1
        self.last_slice_wall_ms = -1
        self.last_fetch_wall_ms = -1
        self.last_fetch_leader_end_offset = -1
        self.last_caught_up_wall_ms = -1
        self.caught_up_ms = -1
        self.has_acknowledged_leader = False
        self.informed_round = 0
        """The newest of the `leadership_rounds` that had begun before its last response."""
        self.informed_connection_id = 0
        """The connection of that response."""
        self.heard_round = 0
        """The round it was informed of before it sent its last Fetch."""
        self._answered_end_offset = UNKNOWN_OFFSET
        self._gathers_until_ms = 0
        self._waiting_request_id = -1
        self._overlaps_count = 0
        self._overlapped_ms = 0
        self._last_asked: tuple[int, int] = (UNKNOWN_OFFSET, UNKNOWN_OFFSET)
        self._repeated_fetches = 0

    def matches(self, key: ReplicaKey) -> bool:
        return is_same_replica(self.key, key)

    def update(self, *, fetch_offset: int, leader_end_offset: int, now_ms: int, wall_ms: int) -> None:
        """Takes a valid fetch: the replica has everything below `fetch_offset`.

        It is caught up now if that is our end, or was at its previous fetch if it has by now what our log
        had then.
        """
        if fetch_offset >= leader_end_offset:
            self.last_caught_up_wall_ms = max(self.last_caught_up_wall_ms, wall_ms)
            self.caught_up_ms = now_ms
        elif 0 < self.last_fetch_leader_end_offset <= fetch_offset:
            self.last_caught_up_wall_ms = max(self.last_caught_up_wall_ms, self.last_fetch_wall_ms)
            self.caught_up_ms = self.last_fetch_ms
        self.last_fetch_leader_end_offset = leader_end_offset
        self.last_fetch_ms = now_ms
        self.last_fetch_wall_ms = max(self.last_fetch_wall_ms, wall_ms)
        self.end_offset = fetch_offset
        self.has_acknowledged_leader = True

    def fetched_slice(self, now_ms: int, wall_ms: int) -> None:
        """Takes a FetchSnapshot: it runs, and what it has is not known to have changed."""
        self.heard_ms = now_ms
        self.last_slice_wall_ms = wall_ms

    @property
    def last_heard_ms(self) -> int:
        return max(self.heard_ms, self.last_fetch_ms)

    @property
    def last_heard_wall_ms(self) -> int:
        return max(self.last_slice_wall_ms, self.last_fetch_wall_ms)

    def was_answered(self, *, end_offset: int, gathers_until_ms: int) -> None:
        """Notes a response with what is committed below `end_offset`: further records are gathered until
        the given time.
        """
        self._answered_end_offset = end_offset
        self._gathers_until_ms = gathers_until_ms

    def gathers_until_ms(self, fetch_offset: int) -> int:
        """Returns until when a Fetch waits for more; it does not wait while the replica has to catch up."""
        return self._gathers_until_ms if fetch_offset >= self._answered_end_offset else 0

    def waits(self, request_id: int) -> int:
        """Notes that this Fetch of it waits; returns the one that waited before."""
        former = self._waiting_request_id
        self._waiting_request_id = request_id
        return former

    def fetches_overlap(self, now_ms: int) -> int:
        """Notes that two of its fetches wait; returns how often in a row. A replica sends one at a time: of a
        process that has ended, one may be left, behind a proxy that keeps its connection.
        """
        if now_ms - self._overlapped_ms > OVERLAPS_WITHIN_MS:
            self._overlaps_count = 0
        self._overlaps_count += 1
        self._overlapped_ms = now_ms
        return self._overlaps_count

    def has_nothing_to_fetch(self) -> None:
        """Notes that its Fetch is parked: the same Fetch after that is not a repetition."""
        self._repeated_fetches = 0

    def is_repeating(self, fetch_offset: int, high_watermark: int, repeats_max: int) -> bool:
        """Returns whether the replica repeats the same Fetch, although it got a response each time."""
        if self._last_asked != (fetch_offset, high_watermark):
            self._last_asked = (fetch_offset, high_watermark)
            self._repeated_fetches = 0
            return False
        self._repeated_fetches += 1
        return self._repeated_fetches > repeats_max
