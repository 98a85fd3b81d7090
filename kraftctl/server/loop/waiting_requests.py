"""Requests that may take long wait here for their turn of the loop; heartbeats and raft's do not.

In one turn of the loop, requests of many connections may be read: of a hundred brokers that have lost the
same replica, or of administrators. Each takes a slice of a few milliseconds before it continues in turns
(`SLICES`). All of them together would hold up a heartbeat that is read behind them, or comes meanwhile.

So in each turn those are handled that fit into TURN_NS, at least one; the others keep their order. What waits
loses at most its turn: nothing else can keep it waiting.
"""

from __future__ import annotations

from typing import Final

from kraftctl.apis.api_table import RAFT_API_KEYS
from kraftctl.node.events import ClientRequest
from kraftctl_protocol.api_keys import ApiKey

URGENT_API_KEYS: Final = RAFT_API_KEYS | {int(ApiKey.BROKER_HEARTBEAT), int(ApiKey.API_VERSIONS)}
"""What sessions, commits and elections depend on. No request of them takes long."""

TURN_NS: Final = 4_000_000
"""As a slice of long work: heartbeats wait so long, and for one request more."""

WAITING_MAX: Final = 256
"""More are handled immediately: each has its decoded body in memory, and is of a connection of its own."""


class WaitingRequests:
    """In the order in which they came, and how much time this turn has spent on such requests."""

    def __init__(self) -> None:
        self._requests: dict[int, ClientRequest] = {}
        self._spent_ns = 0

    def __bool__(self) -> bool:
        return bool(self._requests)

    def must_wait(self, *, busy: bool) -> bool:
        """Whether a request that is not urgent must wait now. `busy`: another event is being processed."""
        has_turn = not busy and not self._requests and self._spent_ns < TURN_NS
        return not has_turn and len(self._requests) < WAITING_MAX

    def add(self, request: ClientRequest) -> None:
        """Puts the request behind the others."""
        self._requests[request.request_id] = request

    def remove(self, request_id: int) -> bool:
        """Its connection is closed. Returns whether it has waited here."""
        return self._requests.pop(request_id, None) is not None

    def spent(self, duration_ns: int) -> None:
        """A request has taken so long."""
        self._spent_ns += duration_ns

    def begin_turn(self) -> None:
        """The sockets were read since the last turn."""
        self._spent_ns = 0

    def take(self) -> ClientRequest | None:
        """The next one that still fits into this turn."""
        if not self._requests or self._spent_ns >= TURN_NS:
            return None
        return self._requests.pop(next(iter(self._requests)))

    def clear(self) -> None:
        """Nothing is processed any more."""
        self._requests.clear()


def is_urgent(request: ClientRequest) -> bool:
    """An envelope counts as what it is: brokers forward only what administrators ask for."""
    return request.context.api.key in URGENT_API_KEYS
