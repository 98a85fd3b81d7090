"""Work of the active controller that takes many turns of the loop, one slice in each.

The works take turns, so that a small one does not wait for a large one to end.
"""

from __future__ import annotations

from collections import deque

from mypy_extensions import mypyc_attr

from kraftctl.controller.results.controller_result import SlicedWork
from kraftctl.controller.results.prepared_result import PreparedResult
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.message import Message


@mypyc_attr(acyclic=True)
class WaitingRequest:
    """A request that is answered with the last slice of its work. `request_id` is the caller's."""

    def __init__(self, request_id: int, context: RequestContext, request: Message) -> None:
        self.request_id = request_id
        self.context = context
        self.request = request


class WorkInProgress:
    """`waiting` is None for the work of a timer. `has_begun`: something is changed already."""

    def __init__(self, work: SlicedWork, waiting: WaitingRequest | None, has_begun: bool) -> None:
        self.work = work
        self.waiting = waiting
        self.has_begun = has_begun


class PreparedSlice:
    """The next slice of `of`. `prepared` is None when it has failed: then `response` is the refusal, None to
    close the connection."""

    def __init__(self, of: WorkInProgress, prepared: PreparedResult | None, response: Message | None) -> None:
        self.waiting = of.waiting
        self.spent = of.work.spent
        self.prepared = prepared
        self.response = response


class SlicedWorks:
    """Everything that is in progress in one activation."""

    def __init__(self) -> None:
        self._works: deque[WorkInProgress] = deque()

    def __len__(self) -> int:
        return len(self._works)

    def add(self, work: WorkInProgress) -> None:
        """Puts the work behind all others."""
        self._works.append(work)

    def take(self) -> WorkInProgress:
        """The one whose turn it is; `add` it again if there is more to do."""
        return self._works.popleft()

    def drop_unbegun(self, request_id: int) -> bool:
        """The client has left. If it asks again, the same work is added again, so this one is dropped unless
        it has changed something: then it is carried out to its end. Returns whether it is dropped."""
        for progress in self._works:
            waiting = progress.waiting
            if waiting is not None and waiting.request_id == request_id and not progress.has_begun:
                self._works.remove(progress)
                return True
        return False

    def drop_all(self) -> list[WaitingRequest]:
        """Leadership is lost: another controller continues from the log. Returns the requests that wait."""
        waiting = [work.waiting for work in self._works if work.waiting is not None]
        self._works.clear()
        return waiting
