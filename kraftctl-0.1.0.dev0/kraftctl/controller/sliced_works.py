"""Work of the active controller that takes many turns of the loop, one slice in each.

The works take turns, so that a small one does not wait for a large one to end.
"""

from __future__ import annotations

from collections import deque

from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.results.controller_result import SlicedWork


class WorkInProgress:
    """Work that has slices left. `pending` is answered with the last one; a timer's work has None.

    `has_begun` says whether something is changed already.
    """

    def __init__(self, work: SlicedWork, pending: PendingRequest | None, has_begun: bool) -> None:
        self.work = work
        self.pending = pending
        self.has_begun = has_begun


class SlicedWorks:
    """The works in progress of one activation. Each takes one slice in its turn."""

    def __init__(self) -> None:
        self._works: deque[WorkInProgress] = deque()

    def __len__(self) -> int:
        return len(self._works)

    def add(self, work: WorkInProgress) -> None:
        """Puts the work behind all others."""
        self._works.append(work)

    def take(self) -> WorkInProgress:
        """Removes and returns the work whose turn it is; `add` it again if there is more to do."""
        return self._works.popleft()

    def drop_unbegun(self, request_id: int) -> bool:
        """Drops the work of a client that has left, unless the work has changed something.

        Work that has changed something is carried out to its end. The client may ask again, which adds the
        same work again. Returns whether the work is dropped.
        """
        for progress in self._works:
            pending = progress.pending
            if pending is not None and pending.id == request_id and not progress.has_begun:
                self._works.remove(progress)
                return True
        return False

    def drop_all(self) -> list[PendingRequest]:
        """Drops all works, because leadership is lost. Returns the requests that wait for their work.

        The next leader continues from the log.
        """
        waiting = [work.pending for work in self._works if work.pending is not None]
        self._works.clear()
        return waiting
