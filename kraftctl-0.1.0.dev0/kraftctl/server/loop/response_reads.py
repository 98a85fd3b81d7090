"""The reads of files for responses to Fetch and FetchSnapshot, a few at a time, the addresses in turn.

A vote waits on the storage thread for the reads before it, and each read holds its response in memory. So few
are handed over; the others wait here, where one address with many requests does not delay the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

READS_MAX = 2
"""Handed to the storage thread: one that runs, and one so that the thread does not wait for the loop."""

CONTENDED_READ_BYTES_MAX = 1 << 20
"""The size of one read while others wait, the default of controller.quorum.fetch.max.bytes: replicas fetch
the rest."""

READ_BYTES_MAX = 2**31 - 1
"""The size of one read while none waits: what the node asks for, which is limited already."""


ROOM_SECONDS = 0.01
"""How long the next read waits for clients that have answers to read; then it runs nevertheless, and one of
those that hold most may be closed for it."""


KEPT_IN_A_ROW_MAX: Final = 8
"""This many responses leave from memory before one goes over the storage thread, and others have a turn:
to copy one to its socket takes up to 0.3 ms."""


class ResponseRead:
    """`find` responds from memory and returns True, or returns False, and `read` begins. Both are called with
    how many bytes they may read; `skip` is called in their place when the files are about to be cut."""

    def __init__(
        self,
        request_id: int,
        find: Callable[[int], bool],
        read: Callable[[int], None],
        skip: Callable[[], None],
        *,
        of_voter: bool = False,
    ) -> None:
        self.request_id = request_id
        self.find = find
        self.read = read
        self.skip = skip
        self.of_voter = of_voter


class ResponseReads:
    """Call `ended` after each read. `awaits` says whether a client still waits.

    `has_room` says whether more responses may wait for clients to take them. While there is no room, only
    reads of voters begin; `pause` has to call `resume` after ROOM_SECONDS. Voters have a turn of their own:
    brokers may have the same address.
    """

    def __init__(
        self,
        awaits: Callable[[int], bool],
        has_room: Callable[[], bool],
        pause: Callable[[], object],
    ) -> None:
        self._awaits = awaits
        self._has_room = has_room
        self._pause = pause
        self._waiting: dict[tuple[bool, bytes], deque[ResponseRead]] = {}
        """By whether they are of voters, and address."""
        self._running_count = 0
        self._kept_in_a_row = 0
        self._begins = False
        self._paused = False
        self._waited = False

    def submit(self, address: bytes, read: ResponseRead) -> None:
        """Begin the read when it is its turn, maybe inside."""
        if not self._waiting and not self._begins:
            self._kept_in_a_row = 0
        self._waiting.setdefault((read.of_voter, address), deque()).append(read)
        self._begin()

    def ended(self) -> None:
        """A read is done, or has failed."""
        self._running_count -= 1
        self._kept_in_a_row = 0
        self._begin()

    def resume(self) -> None:
        """After a pause: one is read even if there is no room."""
        self._paused = False
        self._forget_gone()
        self._waited = True
        self._begin()
        self._waited = False

    def skip_all(self) -> None:
        """The files are about to be cut: what waits was found in them before, and might be gone."""
        waiting = [read for reads in self._waiting.values() for read in reads]
        self._waiting.clear()
        for read in waiting:
            read.skip()

    def _begin(self) -> None:
        # A response may let its client ask for the next within.
        if not self._begins:
            self._begins = True
            try:
                self._begin_all()
            finally:
                self._begins = False

    def _begin_all(self) -> None:
        while self._running_count < READS_MAX and self._waiting:
            turn = self._next_turn()
            if turn is None:
                return
            reads = self._waiting[turn]
            read = reads.popleft()
            del self._waiting[turn]
            if reads:
                self._waiting[turn] = reads  # behind the other addresses
            if self._awaits(read.request_id):
                self._answer(read, CONTENDED_READ_BYTES_MAX if self._waiting else READ_BYTES_MAX)

    def _answer(self, read: ResponseRead, bytes_max: int) -> None:
        if self._kept_in_a_row < KEPT_IN_A_ROW_MAX and read.find(bytes_max):
            self._kept_in_a_row += 1
        else:
            self._running_count += 1
            read.read(bytes_max)

    def _forget_gone(self) -> None:
        """Clients may leave, and others come, faster than reads begin."""
        for turn, reads in list(self._waiting.items()):
            awaited = deque(read for read in reads if self._awaits(read.request_id))
            if awaited:
                self._waiting[turn] = awaited
            else:
                del self._waiting[turn]

    def _next_turn(self) -> tuple[bool, bytes] | None:
        """Whose turn it is; None during a pause."""
        # Whether there is room takes a look at everybody who has a response to read: once for each pause.
        if not self._paused and self._has_room():
            return next(iter(self._waiting))
        for turn in self._waiting:
            if turn[0]:
                return turn
        if self._waited:
            self._waited = False
            return next(iter(self._waiting))
        if not self._paused:
            self._paused = True
            self._pause()
        return None
