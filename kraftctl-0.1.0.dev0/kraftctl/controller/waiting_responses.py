"""WaitingResponses: the requests whose responses wait until everything they report is committed."""

from __future__ import annotations

from collections import deque

from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.results.deferred_event_queue import DeferredEventQueue
from kraftctl_protocol.errors import Errors


class WaitingResponses:
    """Orders responses by the offset, and the round of leadership, that each waits for.

    A read gives up after `read_wait_ms`.
    """

    def __init__(self, read_wait_ms: int) -> None:
        self._deferred: DeferredEventQueue[PendingRequest] = DeferredEventQueue()
        self._unconfirmed: DeferredEventQueue[PendingRequest] = DeferredEventQueue()
        self._confirmed_round = 0
        self._reads: deque[tuple[int, PendingRequest]] = deque()
        """Reads with their deadlines, the earliest first."""
        self._read_wait_ms = read_wait_ms

    @property
    def next_deadline_ms(self) -> int | None:
        """Returns the time at which `give_up_reads` may have something to return."""
        return self._reads[0][0] if self._reads else None

    def add(self, offset: int, pending: PendingRequest) -> None:
        """Keeps the response until `offset`, inclusive, is stable."""
        self._deferred.add(offset, pending)

    def add_deadline(self, pending: PendingRequest, now_ms: int) -> None:
        """Gives this read a deadline."""
        self._reads.append((now_ms + self._read_wait_ms, pending))

    def add_unconfirmed(self, pending: PendingRequest) -> bool:
        """Keeps the response until its round of leadership is confirmed. Returns False if it is."""
        if pending.round <= self._confirmed_round:
            return False
        self._unconfirmed.add(pending.round, pending)
        return True

    def take_up_to(self, offset: int) -> list[PendingRequest]:
        """Removes and returns the requests to answer: everything up to `offset` is stable."""
        taken = self._deferred.complete_up_to(offset)
        return self._unanswered([pending for pending in taken if not self.add_unconfirmed(pending)])

    def take_confirmed(self, round: int) -> list[PendingRequest]:
        """Removes and returns the requests to answer: this led after each of them came."""
        self._confirmed_round = round
        return self._unanswered(self._unconfirmed.complete_up_to(round))

    def take_all(self) -> list[PendingRequest]:
        """Removes and returns all requests, because leadership is lost."""
        self._reads.clear()
        self._confirmed_round = 0
        return self._unanswered(self._deferred.fail_all() + self._unconfirmed.fail_all())

    def give_up_reads(self, now_ms: int) -> list[PendingRequest]:
        """Returns reads whose offset is not stable in time; each has the response REQUEST_TIMED_OUT."""
        given_up: list[PendingRequest] = []
        reads = self._reads
        while reads and (reads[0][0] <= now_ms or reads[0][1].answered):
            _, pending = reads.popleft()
            if not pending.answered:
                pending.refuse(Errors.REQUEST_TIMED_OUT)
                pending.answered = True
                given_up.append(pending)
        return given_up

    def _unanswered(self, taken: list[PendingRequest]) -> list[PendingRequest]:
        """Returns the requests that have not timed out, and marks them as answered."""
        unanswered = [pending for pending in taken if not pending.answered]
        for pending in unanswered:
            pending.answered = True
        return unanswered
